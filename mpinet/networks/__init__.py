"""Networks: topologies and routings as pure local rules, independent of machines and ranks."""

from mpinet.networks.catalogue import open_topology as open
from mpinet.networks.contract import check
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

__all__ = ["Routing", "Topology", "check", "open"]

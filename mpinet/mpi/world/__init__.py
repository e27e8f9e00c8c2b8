"""The run: processors and their scripts' threads, the network, matching, costs, deadlock."""

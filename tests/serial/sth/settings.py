"""The networks of the STH paper, and those that it names, that the tests try."""

SETTINGS = {
    "lst": "2 3 4 5 6 7 8 13 31 100",
    "tq": "2 3 4 5 6 7 8 9 10 11",
    "cq": "1 2 3 4 5 6 7 8 9 10 11",
    "hkv": "1 3 5 7 9 11",
    "sth": "2,2 2,3 3,3 3,4 5,2 7,3 2,1,cq 3,2,cq 2,4,cq 2,1,hkv 3,3,hkv 2,1,q 3,2,q 4,3,q",
    "dlh": "2,0 3,0 2,1 3,1 2,2 3,2 5,3 7,0 4,4 9,2",
    "hexcell": "1 2 3 4 5 6 7 8 9 15",
    "foldedcube": "2 3 4 5 6 7 8 9 10 11",
    "hhc": "1 2 3",
    "stargraph": "2 3 4 5 6 7",
    "arrangement": "2,1 3,1 3,2 4,2 4,3 5,1 5,2 5,3 6,4 7,3 30,2 9,1",
    "petersen": "",
    "hp": "3 4 5 6 7 8 9 10 11 12",
    "fp": "1 2 3",
    "fpq": "0,1 1,1 2,1 0,2 1,2 3,2 5,1 4,2 0,3 1,3",
    "starcube": "2,1 2,3 3,1 3,2 3,4 4,1 4,2 4,4 5,1 5,3",
    "arrstar": "2,2,1 2,3,1 2,3,2 3,2,1 3,4,2 3,4,3 4,3,1 4,4,2 4,5,2 5,3,2",
    "hypermesh": "1,2,1 2,1,1 2,2,1 2,3,2 3,2,2 1,5,3 5,1,3 4,4,2 7,3,1 3,9,4",
    "bh": "1,1,2 2,1,2 1,2,2 2,2,2 3,2,2 3,2,4 1,1,4 2,1,8 4,3,2 2,3,4 5,4,2",
}
"""Settings of every network, each by the arguments."""

NAMES = [
    f"{family}:{arguments}" if arguments else family
    for family, listed in SETTINGS.items()
    for arguments in (listed.split() or [""])
]

LARGE = """hhc:4 hhc:5 lst:1000003 tq:57 cq:57 hkv:57 cq:56 hkv:21 stargraph:8 stargraph:15
foldedcube:57 fp:17 fpq:53,1 hp:56 sth:64,12 sth:1000003,21,hkv sth:12345,40,cq sth:7,50,q
dlh:9999,40 hexcell:1000000 arrangement:1000,2 arrangement:19,18 starcube:12,20 arrstar:9,12,4
hypermesh:1000,999,30 bh:8,9,16 petersen*ring:70 sth:2,3*hexcell:2""".split()

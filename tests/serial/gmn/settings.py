"""The networks G(m,N) that the tests try, and the sizes of those of any size."""

SETTINGS = [
    *("gmn:3,12", "gmn:4,16", "gmn:4,24", "gmn:4,32", "gmn:5,40", "gmn:6,48", "gmn:6,84"),
    *("gmn:6,96", "gmn:7,98", "gmn:7,112", "gmn:8,128", "gmn:8,144", "gmn:8,256", "gmn:9,270"),
    *("gmn:9,288", "gmn:10,320", "gmn:10,340", "gmn:11,704", "gmn:12,1536", "gmn:13,1612"),
]
ARBITRARY = [*range(8, 17), *range(18, 44), 97, 99, 113, 127, 129, 255, 257, 289, 400, 641, 1000]

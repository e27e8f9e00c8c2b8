# %% exercise 4.1
def largest(j, low, high):
    """Return the new values of two partners."""
    return max(low, high), max(low, high)


# %% exercise 4.2
def prefix(low, high):
    """Return the new pairs (prefix, whole) of two partners, given theirs."""
    whole = low[1] + high[1]
    return (low[0], whole), (low[1] + high[0], whole)


# %% exercise 4.3
def ring_steps(q):
    """Return the steps of ASCEND on a ring of 2^q processors."""
    return 2**q - 1


# %% exercise 4.4
def bitonic_sort(values):
    """Return 2^q values in ascending order, by comparing partners of one bit at a time."""
    values = list(values)
    q = len(values).bit_length() - 1
    for k in range(1, q + 1):
        for j in range(k - 1, -1, -1):
            for i in range(2**q):
                other = i | 1 << j
                if not i >> j & 1 and (values[i] > values[other]) == (not i >> k & 1):
                    values[i], values[other] = values[other], values[i]
    return values


# %% exercise 4.5
def sorting_steps(q):
    """Return the steps of bitonic sort on hypercube:q."""
    return q * (q + 1) // 2


# %% exercise 4.6
def butterfly(j, i, low, high):
    """Return the new values of elements i and i + 2^j: i's lower j bits are the frequency f of a transform of 2^(j+1)."""
    turned = np.exp(-2j * np.pi * (i % 2**j) / 2 ** (j + 1)) * high
    return low + turned, low - turned

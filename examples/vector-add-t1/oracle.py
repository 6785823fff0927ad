"""What vector_add should leave in c."""


def oracle(a, b, **_):
    return a + b

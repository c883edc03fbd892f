"""Writes activation_coefficients.h: the polynomials of the scalar engine.

Run with mpmath installed:
    python activation_coefficients.py | clang-format > activation_coefficients.h
Each polynomial is the minimax one (Remez exchange in 50 digits) of `function`
for the error weighted by `weight`, rounded to the type it is evaluated in; the
comment gives the largest weighted error before that rounding.
"""

import textwrap

import mpmath as mp

mp.mp.dps = 50
SMALL = mp.mpf(10) ** -8


def chebyshev_points(low, high, count):
    for k in range(count):
        c = mp.cos(mp.pi * (2 * k + 1) / (2 * count))
        yield (low + high) / 2 - c * (high - low) / 2


def solve(function, weight, points):
    """The polynomial whose weighted error alternates over the points."""
    n = len(points)
    a = mp.matrix(n, n)
    b = mp.matrix(n, 1)
    for i, x in enumerate(points):
        for j in range(n - 1):
            a[i, j] = x**j
        a[i, n - 1] = (-1) ** i / weight(x)
        b[i] = function(x)
    return list(mp.lu_solve(a, b))[:-1]


def extrema(error, low, high, count):
    """The largest |error| of each run of one sign, `count` of them."""
    grid = list(chebyshev_points(low, high, 40 * count))
    grid = [low] + grid + [high]
    runs = []
    for x in grid:
        e = error(x)
        if runs and mp.sign(e) == mp.sign(runs[-1][1]):
            if abs(e) > abs(runs[-1][1]):
                runs[-1] = (x, e)
        else:
            runs.append((x, e))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [x for x, _ in runs], max(abs(e) for _, e in runs)


def minimax(function, degree, low, high, weight):
    low, high = mp.mpf(low), mp.mpf(high)
    points = list(chebyshev_points(low, high, degree + 2))
    cache = {}

    def cached(x):
        if x not in cache:
            cache[x] = function(x)
        return cache[x]

    for _ in range(6):
        c = solve(cached, weight, points)
        points, worst = extrema(
            lambda x: weight(x) * (mp.polyval(c[::-1], x) - cached(x)),
            low, high, degree + 2)
    return c, worst


def to_float(value):
    """Correctly rounded to fp32 (through 50 digits, not through double)."""
    m, e = mp.frexp(value)
    return float(mp.ldexp(mp.nint(mp.ldexp(m, 24)), int(e) - 24))


def literal(value, kind):
    if kind == "float":
        return to_float(value).hex() + "f"
    return float(value).hex()


def emit_array(name, comment, coefficients, worst, kind="double"):
    comment += f"; error {mp.nstr(worst, 2)}"
    print("\n".join("// " + l for l in textwrap.wrap(comment, 77)))
    body = ", ".join(literal(c, kind) for c in coefficients)
    text = f"inline constexpr {kind} {name}[] = {{{body}}};"
    print("\n".join(textwrap.wrap(text, 80, subsequent_indent="    ")))


def emit_pair(name, comment, value):
    """A constant as the sum of two doubles."""
    high = float(value)
    low = float(value - mp.mpf(high))
    print("\n".join("// " + l for l in textwrap.wrap(comment, 77)))
    print(f"inline constexpr double k{name}High = {high.hex()};")
    print(f"inline constexpr double k{name}Low = {low.hex()};")


def of_square(function, limit):
    """g(s) = function(x) / x with s = x * x, whose weight is relative."""
    def g(s):
        x = mp.sqrt(s)
        return function(x) / x if s > 0 else limit
    return g, lambda s: 1 / g(s)


def expm1_over(r):
    return mp.expm1(r) / r if r else mp.mpf(1)


def exp_float(degree, half):
    """exp(r), the coefficients rounded to fp32 one after another.

    Each time the free ones are fitted again, so that they make up for the
    rounding of those before. 1, 1 and 1/2 are given.
    """
    known = [mp.mpf(1), mp.mpf(1), mp.mpf(1) / 2]
    while len(known) <= degree:
        n = len(known)

        def rest(r):
            r = r if abs(r) > SMALL else SMALL
            return (mp.exp(r) - mp.polyval(known[::-1], r)) / r**n

        c, _ = minimax(rest, degree - n, -half, half,
                       lambda r: abs(r) ** n * mp.exp(-r) + SMALL**2)
        known.append(mp.mpf(to_float(c[0])))
    return known, max(
        abs(mp.polyval(known[::-1], r) / mp.exp(r) - 1)
        for r in mp.linspace(-half, half, 2001))


def scaled_erfc(q):
    """(1 + 2z) exp(z^2) erfc(z) with q = (z - 4) / (z + 4)."""
    z = 4 * (1 + q) / (1 - q)
    return (1 + 2 * z) * mp.exp(z * z) * mp.erfc(z)


def silu_dx(x):
    s = 1 / (1 + mp.exp(-x))
    return s * (1 + x * (1 - s))


def gelu_dx(x):
    return mp.ncdf(x) + x * mp.npdf(x)


def about_root(function, root):
    """function(root + d) / d."""
    slope = mp.diff(function, root)

    def g(d):
        return function(root + d) / d if abs(d) > mp.mpf(10) ** -20 else slope
    return g, lambda d: 1 / g(d)


def emit_root(name, function, guess):
    root = mp.findroot(function, guess)
    emit_pair(name + "Root", f"The zero of {name}", root)
    g, weight = about_root(function, root)
    c, worst = minimax(g, 6, mp.mpf(-1) / 15, mp.mpf(1) / 15, weight)
    emit_array(f"k{name}NearRoot", f"{name}(root + d) / d for |d| <= 1/16",
               c, worst)


def emit_squares():
    third = mp.mpf(1) / 9
    table = [
        ("Log", lambda t: 2 * mp.atanh(t), 2, 5, "0.02945",
         "log((1+t)/(1-t)) / t in t^2, 1 + t over 1 - t within sqrt(2)"),
        ("Log1p", lambda t: 2 * mp.atanh(t), 2, 7, third,
         "log((1+t)/(1-t)) / t in t^2 for t <= 1/3"),
        ("Sin", mp.sin, 1, 6, (mp.pi / 2) ** 2,
         "sin(x) / x in x^2 for x <= pi/2"),
        ("Arctan", mp.atan, 1, 7, "0.17158",
         "arctan(t) / t in t^2 for t <= tan(pi/8)"),
        ("TanhSmall", mp.tanh, 1, 3, mp.mpf(1) / 64,
         "tanh(x) / x in x^2 for x <= 1/8"),
        ("ErfSmall", mp.erf, 2 / mp.sqrt(mp.pi), 4, mp.mpf(1) / 16,
         "erf(x) / x in x^2 for x <= 1/4"),
    ]
    for name, function, limit, degree, high, comment in table:
        g, weight = of_square(function, mp.mpf(limit))
        c, worst = minimax(g, degree, 0, high, weight)
        emit_array("k" + name, comment, c, worst)


def main():
    print("// Generated by activation_coefficients.py; do not edit.\n")
    print("#ifndef TRNEMU_CORE_NUMERICS_ACTIVATION_COEFFICIENTS_H_")
    print("#define TRNEMU_CORE_NUMERICS_ACTIVATION_COEFFICIENTS_H_\n")
    print("namespace trnemu::activation {\n")
    half = mp.log(2) / 2 * (1 + mp.mpf(2) ** -16)
    relative = lambda r: abs(r) * mp.exp(-r) + mp.mpf(10) ** -9
    c, worst = exp_float(6, half)
    emit_array("kExpFloat", "exp(r) for |r| <= ln(2)/2, after rounding", c,
               worst, "float")
    c, worst = minimax(expm1_over, 7, -half, half, relative)
    emit_array("kExpDouble", "(exp(r) - 1) / r for |r| <= ln(2)/2", c, worst)
    emit_squares()
    c, worst = minimax(scaled_erfc, 14, -1, mp.mpf(7.25) / 15.25,
                       lambda q: 1 / scaled_erfc(q))
    emit_array("kScaledErfc", "(1 + 2z) exp(z^2) erfc(z) for z <= 11.25 in "
               "q = (z - 4) / (z + 4)", c, worst)
    emit_root("SiluDx", silu_dx, -1.28)
    emit_root("GeluDx", gelu_dx, -0.75)
    emit_pair("Pi", "pi", mp.pi)
    emit_pair("PiPlusSqrt6", "Where the cubic about pi is zero",
              mp.pi + mp.sqrt(6))
    emit_pair("GeluSigmoidScale", "1.702", mp.mpf(1702) / 1000)
    print("\n}  // namespace trnemu::activation\n")
    print("#endif  // TRNEMU_CORE_NUMERICS_ACTIVATION_COEFFICIENTS_H_")


if __name__ == "__main__":
    main()

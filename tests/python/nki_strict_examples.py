# A kernel for each construct that the device's front end refuses, as
# nki_strict_kit.py reads them: a block starts with `#% ID`, of the tracer
# with `#% ID tracer`. `# fix: CODE` says what its line becomes, `# fix: leave
# out` that it goes; on a line of its own the line is added. The finding is at
# the lines with a fix, or, if any has it, at those marked `# here`. The
# imports of nki_strict_kit.py stand before each.

#% comprehension
def kernel(x):
    sizes = [n * 2 for n in range(4)]  # fix: sizes = []
    # fix: for n in range(4): sizes.append(n * 2)
    return sizes

#% generator
def kernel(x):
    total = max(n * 2 for n in x.shape)  # fix: total = max(x.shape)
    return total

#% lambda
def tile(n):
    return n * 2

def kernel(x):
    f = lambda n: n * 2  # fix: f = tile
    return f(x.shape[0])

#% walrus
def kernel(x):
    rows = x.shape[0]
    assert (half := rows // 2) > 64  # fix: half = rows // 2
    # fix: assert half > 64
    return half

#% starred
def pair(a, b):
    return a

def kernel(x, shape=(2, 3)):
    both = (1, *shape)  # fix: both = (1,) + shape
    pair(*shape)  # fix: pair(shape[0], shape[1])
    pair(**{"a": 1, "b": 2})  # fix: pair(a=1, b=2)
    head, *rest = shape  # fix: head, rest = shape[0], shape[1:]
    return both

#% matmul_operator
def kernel(x, y, dst):
    z = x @ y  # fix: nisa.nc_matmul(dst, x, y)

#% identity
def kernel(x, flag=True, other=None):
    if flag is True:  # fix: if flag == True:
        return x
    if x.shape[0] is not x.shape[1]:  # fix: if x.shape[0] != x.shape[1]:
        return x
    if other is None or other is not None:
        return x

#% set
SIZES = frozenset((32, 64))  # fix: SIZES = (32, 64)
def kernel(x):
    if x.shape[0] in SIZES:  # here
        return x
    if x.shape[1] in {1, 2}:  # here # fix: if x.shape[1] in (1, 2):
        return x
    y = set(x.shape)  # here # fix: leave out

#% membership
class Mode(Enum):
    FAST = 1

def kernel(x, name="a"):
    sizes = {"a": 1}
    if name in sizes:  # fix: if name in sizes.keys():
        return x
    if name not in Mode:  # fix: if name not in (Mode.FAST,):
        return x

#% dict_key
def kernel(x):
    sizes = {1: "one"}  # fix: sizes = {"1": "one"}
    sizes[2] = "two"  # fix: sizes["2"] = "two"
    return sizes

#% integer
def kernel(x):
    mask = 0xFFFFFFFF  # fix: mask = 0x7FFFFFFF
    low = -2147483648
    return mask

#% literal
def kernel(x):
    a = b"ab"  # fix: a = "ab"
    return a

#% format_spec
def kernel(x):
    rows = x.shape[0]
    print(f"{rows:>4}")  # fix: print(f"{rows} {rows=} {rows!r}")

#% string_operator
def kernel(x):
    print("-" * 8)  # fix: print("--------")
    print("%d rows" % x.shape[0])  # fix: print(f"{x.shape[0]} rows")

#% slice_step
def kernel(x):
    reverse = x.shape[::-1]  # fix: reverse = (x.shape[1], x.shape[0])
    return reverse

#% inner_function
def copy(x):
    return nl.load(x)

def kernel(x):
    def inner(x): return nl.load(x)  # fix: inner = copy
    return inner(x)

#% inner_class
class Sizes(nl.NKIObject):
    rows: int = 1

def kernel(x):
    class Inner(nl.NKIObject): rows = 1  # fix: Inner = Sizes
    return Inner()

#% closure
def make(scale):  # fix: scale = 2.0
    def kernel(x): return nl.multiply(x, scale)  # here # fix: leave out
    return kernel  # fix: leave out
kernel = make(2.0)  # fix: def kernel(x): return nl.multiply(x, scale)

#% variadic
def total(*sizes, **more):  # fix: def total(sizes):
    return sizes[0]

def kernel(x):
    return total(x.shape)

#% keyword_only
def kernel(x, *, scale=1.0):  # fix: def kernel(x, scale=1.0):
    return x

#% list_argument
def kernel(x, stride=[1, 1]):  # fix: def kernel(x, stride=(1, 1)):
    return stride[0]

#% decorator
@functools.cache  # fix: leave out
def tile(n):
    return n * 2

@nki.jit
def kernel(x):
    return tile(x.shape[0])

#% class_base
class Sizes:  # fix: class Sizes(nl.NKIObject):
    rows: int = 1

class Mode(IntEnum):  # fix: class Mode(Enum):
    FAST = 1

class Pair(NamedTuple):
    a: int
    b: int

class More(Pair):  # fix: class More(nl.NKIObject):
    c = 1

def kernel(x):
    return Sizes().rows, Mode.FAST, Pair(1, 2), More

#% class_body
class Sizes(nl.NKIObject):
    """The rows, and nothing else."""
    rows: int = 1
    print("made")  # fix: leave out
    if True: more = 2  # fix: more = 2

def kernel(x):
    return Sizes()

#% async
async def kernel(x):  # fix: def kernel(x):
    return x

#% for_target
def kernel(x):
    for a, b in ((1, 2), (3, 4)):  # fix: for pair in ((1, 2), (3, 4)):
        # fix: a, b = pair
        print(a, b)

#% loop_else
def kernel(x):
    n = 0
    for i in range(4):
        n += i
    else:  # fix: if True:
        n = 0  # here
    while n > 4:
        n -= 1
    else:  # fix: if True:
        n = 1  # here

#% import
def kernel(x):
    import math  # fix: leave out
    from math import ceil  # fix: leave out
    return math.ceil(x.shape[0] / 2)

#% try
def kernel(x):
    n = 1
    try:  # here # fix: if x.ndim == 2:
        n = x.shape[1]
    except IndexError:  # fix: if x.ndim == 1:
        n = 1
    return n

#% raise
def kernel(x):
    if x.ndim != 2:  # fix: leave out
        raise ValueError("rank")  # here # fix: leave out
    # fix: assert x.ndim == 2, "rank"

#% with
def kernel(x):
    with nl.no_reorder() as order:  # fix: with nl.no_reorder():
        y = nl.load(x)
    with x:  # fix: if True:
        return y

#% global
count = 0
class Sizes(nl.NKIObject):
    rows: int = 1

def kernel(x):
    global count  # fix: count = 0
    count += 1
    Sizes.rows = 2  # fix: Sizes(2)

#% del
def kernel(x):
    y = nl.load(x)
    del y  # fix: leave out

#% match
def kernel(x, mode=1):
    match mode:  # here # fix: if mode == 1:
        case 1: y = nl.load(x)  # fix: y = nl.load(x)

#% assignment
class Sizes(nl.NKIObject):
    rows: int = 1
    columns: int = 1

    def read(self, x):
        self.rows, self.columns = x.shape  # fix: self.rows = x.shape[0]
        # fix: self.columns = x.shape[1]

def kernel(x):
    a = Sizes()
    a.read(x)
    a.rows = a.columns = 1  # fix: a.rows = 1
    # fix: b = a.columns = 1
    return a

#% list_element
def kernel(x):
    sizes = [1, 2, 3]
    sizes[-1] = 4  # fix: sizes[len(sizes) - 1] = 4
    sizes[0:2] = [5, 6]  # fix: sizes[0] = 5
    return sizes[-1]

#% item_assignment
def kernel(x: nl.ndarray):
    y = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.sbuf)
    y[0:64, :] = nl.load(x)  # fix: nisa.dma_copy(dst=y[0:64, :], src=x)
    view = y.reshape((128, 2, 2))
    view[:, 0] += 1  # fix: nisa.memset(dst=view[:, 0], value=1.0)
    x[0] = y  # fix: nl.store(x[0], y)

#% iterate
class Sizes(nl.NKIObject):
    rows: int = 1

def kernel(x: nl.ndarray):
    table = {"a": 1}
    for key in table:  # fix: for key in table.keys():
        print(key)
    for row in x:  # fix: for row in range(x.shape[0]):
        print(row)
    for size in Sizes():  # fix: for size in (Sizes(),):
        print(size)
    for letter in "ab":  # fix: for letter in ("a", "b"):
        print(letter)

#% builtin
def kernel(x):
    n = sum(x.shape)  # fix: n = x.shape[0] + x.shape[1]
    for i in enumerate(x.shape):  # fix: for i in range(len(x.shape)):
        print(i)
    keys = dict.fromkeys(("a",))  # fix: keys = {"a": None}

#% builtin_argument
def kernel(x):
    n = max(x.shape, key=abs)  # fix: n = max(x.shape)
    m = min(n, 4, 2)  # fix: m = min(n, min(4, 2))
    i = int("10", 2)  # fix: i = 2
    sizes = [1, 2]
    first = sizes.pop(0)  # fix: first = sizes[0]
    if isinstance(n, (int, float)):  # fix: if isinstance(n, int):
        print(n, end=" ")

#% method
def kernel(x):
    sizes = [2, 1]
    sizes.sort()  # fix: sizes.reverse()
    name = "-".join(("a", "b"))  # fix: name = "a" + "-" + "b"
    table = dict()
    table.update({"a": 1})  # fix: table["a"] = 1

#% math
def kernel(x, scale=0.5):
    y = math.exp(scale)  # fix: y = scale
    return math.ceil(y * math.pi)

#% library_call
def kernel(x, table=None):
    y = np.arange(4)  # fix: y = table
    z = copy.deepcopy(y)  # fix: z = y
    w = np.random.rand()  # fix: w = np.inf
    return z

#% object
def kernel(x, verbose=False):
    if os.environ.get("VERBOSE"):  # fix: if verbose:
        print(x.shape)

#% neuronxcc
def kernel(x):
    return neuronxcc.nki.language.load(x)  # fix: return nl.load(x)

#% loop_exit
def kernel(x):
    for i in nl.dynamic_range(4):
        if x.ndim == 2:
            break  # fix: nl.load(x)
        for j in range(4):
            break
    go_on = nisa.register_alloc(1)
    while go_on:
        if x.ndim == 2:
            continue  # fix: nl.load(x)
        for j in range(4):
            return x  # fix: nl.load(x)

#% loop_value
def kernel(x):
    def body(i):
        nl.load(x)
        return i  # fix: return

    nl.fori_loop(0, 4, body)

#% loop_in_no_reorder
def kernel(x):
    def body(i):
        nl.load(x)

    with nl.no_reorder():
        nl.fori_loop(0, 4, body)  # fix: nl.load(x)
        for i in nl.dynamic_range(4):  # fix: for i in range(4):
            nl.load(x)
    nl.fori_loop(0, 4, body)

#% register_value
def kernel(x):
    n = nisa.register_alloc(4)
    while n > 0:  # fix: while n:
        nisa.register_load(n, x)
    for i in range(n):  # fix: for i in nl.dynamic_range(n):
        nl.load(x)
    m = int(n)  # fix: m = n
    y = 1 if n else 2  # fix: y = 1
    if not n:  # fix: if n:
        nl.load(x)

#% register_control tracer
def kernel(x):
    n = nisa.register_alloc(4)
    if n:  # here # fix: if x.ndim == 2:
        nl.load(x)
    while n:  # here # fix: while x.ndim == 3:
        nl.load(x)
    for i in range(n):  # here # fix: for i in range(4):
        nl.load(x)

#% dynamic_range tracer
def kernel(x):
    # fix: def body(i): nl.load(x)
    for i in nl.dynamic_range(4):  # here # fix: nl.fori_loop(0, 4, body)
        nl.load(x)  # fix: leave out

#% mutable_global
TABLE = {}
TABLE["a"] = 1
scales = [1.0, 2.0]  # fix: scales = (1.0, 2.0)
def kernel(x):
    return nl.multiply(x, scales[0] + TABLE["a"])  # here

def main():
    scales[0] = 3.0  # fix: print(scales)

#% chained_comparison
def rows(x):
    print("counted")
    return x.shape[0]

def kernel(x):
    assert 0 < rows(x) < 128  # fix: n = rows(x)
    # fix: assert 0 < n < len(x.shape) * 64
    return x

#% list_search
def kernel(x):
    sizes = [1, 2, 2]
    if sizes.count(2) == 2:  # fix: if 2 in sizes:
        return x

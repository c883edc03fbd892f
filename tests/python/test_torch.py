"""trnemu.torch: modules lowered to programs, against PyTorch on the CPU.

Bounds. float32: the device rounds a product's sum differently from the CPU, by
about 3e-6 of the result's rms (docs/numerics.md), and its functions to 1 ulp;
every result must be within 1e-5 of the largest expected value. bfloat16 and
float16: one operator computes in float32 and rounds once, so it is within one
unit in the last place (2^-7, 2^-10 of a value) of what PyTorch computes in
float64 from the same inputs (PyTorch's own 16-bit kernels are not always);
networks are compared with PyTorch in the same dtype, and pass such differences
on from layer to layer, hence a larger factor.
"""

import importlib.util
import os
import pathlib
import re
import sys

import numpy as np
import pytest

import trnemu

torch = pytest.importorskip(
    "torch", reason="torch is not installed: the PyTorch front end is optional"
)

import trnemu.torch  # noqa: E402

HERE = pathlib.Path(__file__).name
ROOT = pathlib.Path(__file__).parents[2]
ULP = {torch.bfloat16: 2.0**-7, torch.float16: 2.0**-10}


class Call(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def make(*shape, dtype=torch.float32, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed + 1000 * len(shape) + sum(shape))
    return (torch.randn(*shape, generator=generator) * scale).to(dtype)


def on_device(module, *inputs, target="trn2", **options):
    program = trnemu.torch.compile_program(module, inputs, target)
    return trnemu.torch.run(program, *inputs, **options)


def on_cpu(module, *inputs):
    with torch.no_grad():
        return module(*inputs)


def assert_near(actual, expected, factor=1.0, what=""):
    """Same shape and dtype, and the bound of this file's first lines."""
    assert actual.dtype == expected.dtype, what
    assert actual.shape == expected.shape, what
    wide = expected.double()
    difference = (actual.double() - wide).abs()
    if expected.dtype == torch.float32:
        limit = torch.tensor(1e-5 * factor * max(wide.abs().max().item(), 1e-30))
    else:
        # What is small by cancellation has the error of what was cancelled.
        ulp = ULP[expected.dtype]
        limit = factor * ulp * (wide.abs() + 1e-2 * wide.abs().max())
    excess = (difference - limit).max().item()
    assert excess <= 0, f"{what} {difference.max().item()}, {excess} too much"


def check(module, *inputs, factor=1.0, target="trn2", exact=False):
    """exact: the expected value is computed in float64 and rounded once."""
    if not isinstance(module, torch.nn.Module):
        module = Call(module)
    actual = on_device(module, *inputs, target=target)
    if exact:
        expected = on_cpu(module, *(x.double() for x in inputs)).to(actual.dtype)
    else:
        expected = on_cpu(module, *inputs)
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected):
        assert_near(a, e, factor)


def refusal(module, *inputs):
    if not isinstance(module, torch.nn.Module):
        module = Call(module)
    with pytest.raises(trnemu.Fault) as caught:
        trnemu.torch.compile_program(module, inputs)
    return caught.value


def mlp(sizes, activation, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    layers = []
    for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
        layers += (
            [torch.nn.Linear(a, b), activation()]
            if i < len(sizes) - 2
            else [torch.nn.Linear(a, b)]
        )
    return torch.nn.Sequential(*layers).to(dtype).eval()


SIZES = [
    (1, (64, 10)),
    (1, (1, 1)),
    (7, (1, 128, 1)),
    (7, (784, 520, 10)),
    (128, (64, 256, 128, 10)),
    (128, (129, 513, 127)),
    (130, (127, 129, 64)),
    (130, (128, 128)),
    (300, (200, 64, 1000)),
    (300, (784, 1000, 10)),
    (513, (10, 64, 10)),
    (1, (1000, 200, 10)),
]


@pytest.mark.parametrize("batch,sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_mlp_of_any_size_agrees_with_the_cpu(batch, sizes, dtype):
    model = mlp(sizes, torch.nn.ReLU, dtype)
    check(
        model,
        make(batch, sizes[0], dtype=dtype),
        factor=1 if dtype == torch.float32 else 2,
    )


@pytest.mark.parametrize("target", trnemu.targets)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str
)
def test_mlp_agrees_with_the_cpu_on_every_generation(target, dtype):
    model = mlp((100, 200, 30), torch.nn.GELU, dtype)
    model.append(torch.nn.Softmax(-1))
    check(model, make(140, 100, dtype=dtype), target=target, factor=2)


@pytest.mark.parametrize(
    "activation", [torch.nn.GELU, torch.nn.Tanh, torch.nn.Sigmoid, torch.nn.Identity]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_functions_between_layers_agree_with_the_cpu(activation, dtype):
    check(mlp((64, 150, 20), activation, dtype), make(140, 64, dtype=dtype), factor=2)


def test_layers_on_three_dimensional_inputs():
    check(mlp((20, 33, 7), torch.nn.GELU), make(3, 50, 20))


def test_a_layer_without_bias_and_one_that_ends_in_softmax():
    model = torch.nn.Sequential(
        torch.nn.Linear(65, 40, bias=False), torch.nn.Softmax(-1)
    )
    check(model.eval(), make(9, 65))


def test_weights_and_tensors_too_large_to_keep_on_chip():
    check(mlp((3000, 2500), torch.nn.ReLU), make(2, 3000))
    check(Call(lambda x: torch.relu(x @ x.t()) * 2), make(2000, 70))
    check(Call(lambda x, w: (x @ w).tanh()), make(17000, 5), make(5, 6))


# One operator at a time ---------------------------------------------------------

UNARY = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "neg": torch.neg,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "softmax": lambda x: torch.softmax(x, -1),
    "softmax_first": lambda x: torch.softmax(x, 0),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "log_softmax_first": lambda x: torch.log_softmax(x, 0),
    "add_scalar": lambda x: x + 0.3,  # 0.3 itself, not rounded to 16 bits
    "scalar_minus": lambda x: 1 - x,
    "mul_scalar": lambda x: x * 3,
    "div_scalar": lambda x: x / 7,
    "silu": torch.nn.functional.silu,
    "clone": lambda x: x.clone() + 0,
    "transpose": lambda x: x.t(),
    "flatten": lambda x: x.flatten(),
}


@pytest.mark.parametrize("name", UNARY)
def test_operator_of_one_tensor_agrees_with_the_cpu(name):
    check(UNARY[name], make(130, 200))


@pytest.mark.parametrize("dtype", ULP, ids=str)
@pytest.mark.parametrize("shape", [(130, 200), (1,), (3, 5, 11)], ids=str)
def test_operators_of_one_tensor_round_once_to_16_bits(shape, dtype):
    functions = {k: v for k, v in UNARY.items() if k != "transpose"}
    x = make(*shape, dtype=dtype)
    out = on_device(Call(lambda x: tuple(f(x) for f in functions.values())), x)
    for (name, function), actual in zip(functions.items(), out, strict=True):
        factor = 2 if name == "silu" else 1  # two operators
        assert_near(actual, function(x.double()).to(dtype), factor, name)


BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "add_alpha": lambda a, b: torch.add(a, b, alpha=0.7),
    "sub_alpha": lambda a, b: torch.sub(a, b, alpha=3),
}
SHAPES = [
    ((130, 70), (130, 70)),
    ((130, 70), (70,)),
    ((70,), (130, 70)),
    ((130, 70), (130, 1)),
    ((130, 1), (130, 70)),
    ((130, 70), (1, 1)),
    ((130, 1), (1, 70)),
    ((3, 1, 5), (1, 4, 5)),
    ((2, 3, 4, 5), (3, 1, 5)),
    ((4, 1, 3, 1, 2), (4, 5, 1, 6, 1)),
    ((130, 2500), (2500,)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_operators_of_two_tensors_broadcast_as_torch_does(shapes):
    a, b = make(*shapes[0]), make(*shapes[1], seed=1)
    check(Call(lambda a, b: tuple(f(a, b) for f in BINARY.values())), a, b)
    for name in ("add", "sub_alpha"):
        half = [v.bfloat16() for v in (a, b)]
        # alpha times the operand is not rounded to 16 bits, nor is it here.
        check(BINARY[name], *half, exact=True)


def test_operators_of_two_dtypes_give_the_wider():
    check(torch.add, make(130, 70, dtype=torch.bfloat16), make(130, 70, seed=1))
    check(torch.mul, make(130, 70), make(70, dtype=torch.bfloat16, seed=1))


def test_operands_that_lie_differently_on_chip():
    torch.manual_seed(0)
    layer = torch.nn.Linear(70, 70).eval()
    check(Call(lambda x: layer(x) + x), make(130, 70))
    check(Call(lambda x: layer(layer(x) + x * 2).t() + layer(x).t()), make(130, 70))
    check(Call(lambda x: (layer(x), layer(x).softmax(-1), x)), make(130, 70))
    check(Call(lambda x: layer(x).t() @ layer(x)), make(130, 70))


def test_products_with_scales_and_biases_of_every_shape():
    a, b = make(130, 200), make(200, 70, seed=1)
    for shape in ((70,), (1, 70), (130, 70), (130, 1)):
        bias = make(*shape, seed=2)
        check(torch.addmm, bias, a, b)
        check(lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2), bias, a, b)
    check(torch.mm, a, b)
    check(lambda x, y: x.t() @ y.t(), make(200, 130), b.t().contiguous())


def test_constants_are_folded_into_the_program():
    class Scaled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", make(20))
            self.register_buffer("deviation", make(20, seed=1).abs() + 0.5)
            self.register_buffer("one", torch.tensor(1.5))

        def forward(self, x):
            return (x - self.mean) / (self.deviation * 2) + self.one

    check(Scaled(), make(30, 20))


def test_casts_round_as_torch_does():
    x = make(130, 70)
    for dtype in (torch.bfloat16, torch.float16):
        out = on_device(Call(lambda x: x.to(dtype)), x)
        assert torch.equal(out, x.to(dtype))
        assert torch.equal(on_device(Call(lambda x: x.float()), out), out.float())


def test_softmax_of_large_values_and_infinities():
    x = make(130, 70, scale=300.0)
    x[0] = 1e30
    x[1, 3:] = -torch.inf
    x[2, 5] = torch.inf
    x[3] = -torch.inf
    x[4, 7] = torch.nan
    for function in (torch.softmax, torch.log_softmax):
        actual = on_device(Call(lambda v: function(v, -1)), x, allow=())
        expected = function(x, -1)
        torch.testing.assert_close(
            actual, expected, rtol=2e-5, atol=1e-6, equal_nan=True
        )


def test_softmax_of_rows_wider_than_a_tile():
    for width in (4097, 9000, 20000):
        check(lambda v: torch.softmax(v, -1), make(3, width))
        check(lambda v: torch.log_softmax(v, -1), make(3, width))


def test_nan_and_infinity_pass_through_functions():
    x = torch.tensor([[torch.nan, torch.inf, -torch.inf, 0.0, -0.0, 1e-40]])
    for function in (torch.tanh, torch.sigmoid, torch.neg, torch.exp):
        torch.testing.assert_close(
            on_device(Call(function), x), function(x), equal_nan=True
        )


def test_relu_of_nan_is_the_devices():
    # The scalar engine's relu is a maximum with 0, which gives the other operand.
    x = torch.tensor([torch.nan, torch.inf, -torch.inf, -1.0, 2.0])
    expected = torch.tensor([0, torch.inf, 0, 0, 2])
    assert torch.equal(on_device(Call(torch.relu), x), expected)


RESHAPES = {
    "chain": lambda x: x.view(6, 20).flatten().view(4, 5, 6).reshape(30, 4) * 2,
    "split_and_merge": lambda x: (x.reshape(2, 3, 4, 5) + 1).flatten(1),
    "permute": lambda x: x.reshape(2, 3, 4, 5).permute(0, 2, 1, 3),
    "permute_all": lambda x: x.reshape(2, 3, 4, 5).permute(3, 1, 0, 2) * 2,
    "permute_five": lambda x: x.reshape(2, 3, 2, 2, 5).permute(4, 0, 3, 1, 2),
    "merged_axes": lambda x: x.reshape(2, 3, 4, 5).permute(2, 3, 0, 1),
    "transposed_rows": lambda x: torch.relu(x.reshape(5, 24)).t().reshape(12, 10),
    "column": lambda x: x.reshape(120, 1).reshape(120) + 1,
    "unsqueeze": lambda x: x.reshape(1, 120).squeeze(0).unsqueeze(-1),
    "heads": lambda x: (x.reshape(3, 8, 5) * 2).transpose(0, 1).reshape(8, 15),
}


@pytest.mark.parametrize("name", RESHAPES)
def test_reshapes_keep_the_order_of_elements(name):
    check(RESHAPES[name], make(10, 12))


def test_a_tensor_of_no_dimensions():
    out = on_device(Call(lambda x: x * 2), torch.tensor(3.0))
    assert out.numel() == 1 and out.item() == 6.0


def test_outputs_that_are_inputs_constants_or_the_same():
    class Odd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("k", make(3))

        def forward(self, x, n):
            y = x + 1
            return x, y, y, self.k, n

    x, n = make(3, 4), torch.arange(5, dtype=torch.int32)
    for a, e in zip(on_device(Odd(), x, n), Odd()(x, n), strict=True):
        assert torch.equal(a, e)


# The program ----------------------------------------------------------------------


def test_program_takes_its_names_from_forward():
    class Two(torch.nn.Module):
        def forward(self, image, scale):
            return image * scale

    p = trnemu.torch.compile_program(Two(), (make(3, 4), make(4)), name="two")
    assert p.name == "two" and p.target == "trn2"
    assert {k: (v[0], str(v[1])) for k, v in p.inputs.items()} == {
        "image": ((3, 4), "float32"),
        "scale": ((4,), "float32"),
    }
    assert list(p.outputs) == ["output"]
    q = trnemu.torch.compile_program(Call(lambda x: (x + 1, x * 2)), (make(3),), "trn3")
    assert list(q.outputs) == ["output_0", "output_1"] and q.target == "trn3"
    assert q.name == "call"


def test_bf16_weights_are_bf16_constants():
    text = trnemu.torch.compile_program(
        mlp((20, 10), torch.nn.ReLU, torch.bfloat16),
        (make(3, 20, dtype=torch.bfloat16),),
    ).to_text()
    assert re.search(r"0\.weight[^\n]*bfloat16", text)
    assert "float32" in text  # the sums


def test_saved_program_gives_the_same_bits(tmp_path):
    model, x = mlp((64, 100, 10), torch.nn.GELU), make(40, 64)
    program = trnemu.torch.compile_program(model, (x,))
    before = trnemu.torch.run(program, x)
    program.save(str(tmp_path / "p.trn"))
    after = trnemu.torch.run(trnemu.Program.load(str(tmp_path / "p.trn")), x)
    again = trnemu.torch.run(trnemu.Program.from_text(program.to_text()), x)
    assert torch.equal(before, after) and torch.equal(before, again)


def test_every_order_of_execution_gives_the_same_bits():
    model, x = mlp((200, 300, 10), torch.nn.GELU), make(140, 200)
    model.append(torch.nn.Softmax(-1))
    program = trnemu.torch.compile_program(model, (x,))
    timed = trnemu.torch.run(program, x)
    for schedule in ("program", 1, 2):
        assert torch.equal(timed, trnemu.torch.run(program, x, schedule=schedule))


def test_compiling_twice_gives_the_same_program():
    model, x = mlp((64, 100, 10), torch.nn.GELU), make(40, 64)
    texts = {trnemu.torch.compile_program(model, (x,)).to_text() for _ in range(2)}
    assert len(texts) == 1


def test_run_refuses_the_wrong_number_of_tensors():
    program = trnemu.torch.compile_program(Call(torch.relu), (make(3),))
    with pytest.raises(trnemu.InputFault, match="takes 1 inputs"):
        trnemu.torch.run(program, make(3), make(3))


def test_instructions_carry_the_line_of_the_model():
    class Model(torch.nn.Module):
        def forward(self, x):
            return torch.tanh(x)  # this line

    text = trnemu.torch.compile_program(Model(), (make(3),)).to_text()
    lines = pathlib.Path(__file__).read_text().splitlines()
    number = 1 + next(i for i, s in enumerate(lines) if "# this line" in s)
    assert HERE in text and str(number) in text and "tanh" in text


# What is refused ------------------------------------------------------------------


class Unsupported(torch.nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        values, _ = torch.sort(y)  # the first
        z = torch.fft.fft(values)  # the second
        return torch.cumsum(z.real, 0)  # the third


def line_of(comment):
    lines = pathlib.Path(__file__).read_text().splitlines()
    return 1 + next(i for i, s in enumerate(lines) if s.endswith(comment))


def test_unsupported_operator_is_named_with_types_line_and_node():
    fault = refusal(Unsupported(), make(4, 10))
    assert fault.category == "unsupported"
    assert fault.id == "torch.operator"
    assert fault.operation == "aten.sort.default"
    assert fault.operand == "sort"
    for part in (
        "aten.sort.default",
        "float32[4, 10]",
        "int64[4, 10]",
        "graph node sort",
    ):
        assert part in fault.message, fault.message
    assert f"{HERE}:{line_of('# the first')} in forward" in fault.source
    assert fault.remedy
    assert fault.details["operator"] == "aten.sort.default"


def test_every_unsupported_operator_is_listed():
    fault = refusal(Unsupported(), make(4, 10))
    assert "_fft_r2c" in fault.message and "cumsum" in fault.message
    listed = "\n".join(fault.related)
    assert "aten._fft_r2c.default" in listed and "complex64" in listed
    assert f"{HERE}:{line_of('# the second')}" in listed
    assert "aten.cumsum.default" in listed
    assert f"{HERE}:{line_of('# the third')}" in listed
    assert "getitem" not in listed


def test_a_line_of_torch_is_never_the_source():
    fault = refusal(torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3)), make(1, 1, 8, 8))
    assert fault.operation == "aten.convolution.default"
    assert "site-packages/torch" not in fault.source
    assert "0 (Conv2d)" in fault.details["module"]
    assert HERE in fault.source  # the line that called compile_program


@pytest.mark.parametrize(
    "function,operator",
    [
        (
            lambda x: torch.nn.functional.conv2d(x[None, None], x[None, None, :3, :3]),
            "conv",
        ),
        (lambda x: x.sum(), "aten.sum"),
        (lambda x: x / x, "aten.div.Tensor"),
        (lambda x: torch.topk(x, 2).values, "aten.topk"),
    ],
)
def test_other_unsupported_operators(function, operator):
    fault = refusal(function, make(10, 10))
    assert fault.category == "unsupported"
    assert operator in fault.message + "".join(fault.related)


def test_unsupported_dtypes_are_named():
    fault = refusal(lambda x: x * 2, torch.ones(3, dtype=torch.float64))
    assert fault.category == "unsupported" and "float64" in fault.message
    fault = refusal(lambda x: x + 1, torch.ones(3, dtype=torch.int32))
    assert fault.id == "torch.dtype" and "int32" in fault.message
    assert fault.operation == "aten.add.Tensor"


def test_dropout_in_training_says_to_call_eval():
    fault = refusal(
        torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout()), make(2, 3)
    )
    assert "eval()" in fault.remedy


def test_control_flow_on_data_is_refused_at_the_users_line():
    class Branch(torch.nn.Module):
        def forward(self, x):
            if x.sum() > 0:  # the branch
                return x + 1
            return x

    fault = refusal(Branch(), make(3))
    assert fault.category == "unsupported" and fault.id == "torch.control_flow"
    assert f"{HERE}:{line_of('# the branch')}" in fault.source


def test_shapes_that_depend_on_data_are_refused():
    fault = refusal(lambda x: x[x > 0] * 2, make(9))
    assert fault.category == "unsupported"
    assert "aten.index.Tensor" in fault.message + "".join(fault.related)


def test_changing_a_buffer_or_an_input_is_refused():
    class Counts(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(3))

        def forward(self, x):
            self.count.add_(1)  # the change
            return x + self.count

    fault = refusal(Counts(), make(3))
    assert fault.id == "torch.mutation" and "count" in fault.message
    assert f"{HERE}:{line_of('# the change')}" in fault.source
    fault = refusal(lambda x: x.add_(1) * 2, make(3))
    assert fault.id == "torch.mutation"


def test_what_torch_cannot_capture_is_a_fault_too():
    def raises(x):
        raise RuntimeError("of its own")

    fault = refusal(raises, make(3))
    assert fault.id == "torch.capture" and "of its own" in fault.message
    with pytest.raises(TypeError, match="torch.nn.Module"):
        trnemu.torch.compile_program(lambda x: x, (make(3),))


# The documentation, and the main job -------------------------------------------------


def test_documentation_lists_what_lowers():
    text = (ROOT / "docs" / "pytorch.md").read_text()
    rows = dict(re.findall(r"^\| `(aten\.[\w.]+)` \| (.*?) \|$", text, re.M))
    assert rows == trnemu.torch.operators()


def the_demo():
    """scripts/demo.py as a module."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    spec = importlib.util.spec_from_file_location("demo", ROOT / "scripts" / "demo.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = module  # its dataclasses look for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif("TRNEMU_BIN" not in os.environ, reason="TRNEMU_BIN is not set")
def test_demo_runs_both_variants_through_the_command_line(tmp_path, capsys):
    demo = the_demo()
    assert demo.main(["--directory", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    shares = re.findall(r"accuracy on \S+(?: CPU)? +([\d.]+) % +([\d.]+) %", text)
    assert len(shares) == 2
    for share in (float(s) for row in shares for s in row):
        assert share > 95
    for name in ("digits.trn", "digits-bf16.trn", "x.npy", "out/output.npy"):
        assert (tmp_path / name).exists()
    for label in (
        "largest logit difference",
        "simulated time",
        "tensor busy",
        "Try next",
    ):
        assert label in text
    assert np.load(tmp_path / "out" / "output.npy").shape == (450, 10)


def test_digits_are_classified_as_on_the_cpu():
    demo = the_demo()
    digits = demo.load()
    model = demo.train(digits)
    x, labels = digits.test_x, digits.test_y
    expected = on_cpu(model, x)
    actual = on_device(model, x)
    assert_near(actual, expected)
    assert demo.accuracy(expected, labels) > 0.95
    assert demo.accuracy(actual, labels) == demo.accuracy(expected, labels)
    half = demo.Classifier().bfloat16().eval()
    half.load_state_dict(model.state_dict())
    out = on_device(half, x.bfloat16())
    assert abs(demo.accuracy(out, labels) - demo.accuracy(expected, labels)) < 0.01

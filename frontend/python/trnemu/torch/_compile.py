"""compile_program: from an nn.Module to a Program."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind

from trnemu._builder import ProgramBuilder
from trnemu._trnemu import Program
from trnemu.torch import _lowerings, _registry
from trnemu.torch._faults import (
    Place,
    Problem,
    called_from,
    fault_of_problems,
    innermost,
    make_fault,
    place_of,
    places_in,
)
from trnemu.torch._tensors import DEVICE_DTYPES, describe, to_numpy
from trnemu.torch._values import CONSTANT, Constant, Context, Value

Node = torch.fx.Node

# Statements about shapes and dtypes that capturing has proved.
_PROVED = {torch.ops.aten._assert_tensor_metadata.default}

_REMEDY = (
    "compute that part on the CPU, or write it with operators that "
    "trnemu.torch.operators() lists"
)


def compile_program(
    module: torch.nn.Module | ExportedProgram,
    example_inputs: torch.Tensor | Sequence[Any],
    target: str = "trn2",
    *,
    name: str | None = None,
) -> Program:
    """Compiles a module for one NeuronCore, at the shapes of example_inputs.

    module: an nn.Module (call .eval() first) or what torch.export gave.
    example_inputs: the positional arguments of its forward().
    target: "trn1", "trn2" or "trn3". name: of the program; the module's class
        unless given.

    The program's inputs have the names of forward()'s arguments; its output is
    "output", or "output_0", "output_1", ... where there are several. Weights
    and buffers are constants in it.

    Raises Fault of category unsupported for what cannot be lowered, with all
    such operators in `.related`.
    """
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    exported = _capture(module, tuple(example_inputs))
    graph = exported.graph_module.graph
    _normalise(graph)
    _refuse_mutation(exported)
    _fold_constants(exported)
    _refuse_unsupported(exported, target)
    if name is None:
        name = type(module).__name__.lower()
    builder = ProgramBuilder(target=target, name=name)
    _lower(exported, builder)
    return builder.build()


# Capture --------------------------------------------------------------------------


def _capture(module: Any, example_inputs: tuple[Any, ...]) -> ExportedProgram:
    """The module as a graph of core ATen operators."""
    if not isinstance(module, (torch.nn.Module, ExportedProgram)):
        raise TypeError(
            "module must be a torch.nn.Module or an ExportedProgram, not "
            f"{type(module).__name__}"
        )
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore", FutureWarning)
            if isinstance(module, torch.nn.Module):
                module = torch.export.export(module, example_inputs, strict=False)
            return module.run_decompositions()
    except Exception as error:
        raise _capture_fault(error) from error


def _capture_fault(error: Exception) -> Exception:
    """Why torch.export gave up, with the user's line."""
    frames = [
        Place(f.filename, f.lineno or 0, f.name)
        for f in traceback.extract_tb(error.__traceback__)
    ]
    # The lines that the graph came from, which torch adds to its message.
    place = innermost(places_in(str(error))) or innermost(frames[1:])
    kind = type(error).__name__
    text = str(error).strip()
    first = text.splitlines()[0].rstrip(".") if text else kind
    if kind.startswith("GuardOnDataDependent"):
        return make_fault(
            "torch.control_flow",
            "the module decides something by the values of a tensor, which a "
            f"program compiled ahead cannot: {first}",
            place=place,
            remedy="use torch.where, or decide on the CPU",
            details={"torch says": text},
        )
    return make_fault(
        "torch.capture",
        f"torch.export could not capture the module: {kind}: {first}",
        place=place,
        remedy="see whether module(*example_inputs) runs, and what "
        "torch.export.export(module, example_inputs) says",
        details={"torch says": text},
    )


def _normalise(graph: torch.fx.Graph) -> None:
    """Arguments that may be positional become so."""
    for node in graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        args, kwargs = list(node.args), dict(node.kwargs)
        positional = [a for a in node.target._schema.arguments if not a.kwarg_only]
        for parameter in positional[len(args) :]:
            if not any(p.name in kwargs for p in positional[len(args) :]):
                break
            args.append(kwargs.pop(parameter.name, parameter.default_value))
        node.args, node.kwargs = tuple(args), kwargs


# What cannot be lowered --------------------------------------------------------------


def _refuse_mutation(exported: ExportedProgram) -> None:
    for spec in exported.graph_signature.output_specs:
        if spec.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT):
            continue
        nodes = {n.name: n for n in exported.graph_module.graph.nodes}
        node = nodes.get(getattr(spec.arg, "name", ""))
        what = "a buffer" if spec.kind == OutputKind.BUFFER_MUTATION else "an input"
        raise make_fault(
            "torch.mutation",
            f"the module changes {what}, {spec.target}, in place, which a compiled "
            "program cannot",
            place=place_of(node) if node is not None else None,
            operand=str(spec.target),
            remedy="return the new value instead",
        )


def _refuse_unsupported(exported: ExportedProgram, target: str) -> None:
    graph = exported.graph_module.graph
    found = [p for p in map(_problem_of, _needed(graph)) if p is not None]
    if found:
        raise fault_of_problems(found, target)


def _needed(graph: torch.fx.Graph) -> list[Node]:
    """The calls whose values something uses, in order."""
    output = next(n for n in graph.nodes if n.op == "output")
    needed: set[Node] = set()
    for node in reversed(graph.nodes):
        if node is output or node in needed:
            needed.update(n for n in node.all_input_nodes if CONSTANT not in n.meta)
    return [n for n in graph.nodes if n in needed and n.op != "placeholder"]


def _problem_of(node: Node) -> Problem | None:
    """Why a node cannot be lowered, if so."""
    if node.op == "get_attr":
        return None  # of the operator that takes it
    if node.target in _PROVED or _takes_part_of_refused(node):
        return None
    row = _registry.find(node.target)
    if row is None:
        return Problem("torch.operator", node, "has no lowering", _remedy_for(node))
    shapes = [v.shape for v in _tensors(node)]
    if any(not isinstance(n, int) for shape in shapes for n in shape):
        return Problem(
            "torch.dynamic_shape",
            node,
            "has a shape that depends on data",
            "make the shape the same for all data, by padding or a mask",
        )
    if any(0 in shape for shape in shapes):
        return Problem(
            "torch.empty", node, "has an empty tensor", "leave the operator out"
        )
    if bad := _lowerings.unsupported_dtype(node):
        return Problem(
            "torch.dtype",
            node,
            f"computes in {bad}; what lowers is float32, bfloat16 and float16",
            "convert the module and its inputs, as with module.float()",
        )
    if row.check is not None and (reason := row.check(node)):
        return Problem("torch.operator", node, reason, _remedy_for(node))
    return None


def _remedy_for(node: Node) -> str:
    if node.target == torch.ops.aten.native_dropout.default:
        return "call module.eval() first: dropout is for training"
    return _REMEDY


def _tensors(node: Node) -> Iterator[Any]:
    for n in [node, *node.all_input_nodes]:
        value = n.meta.get("val")
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(v, torch.Tensor):
                yield v


def _takes_part_of_refused(node: Node) -> bool:
    """getitem of an operator with several results: that one is refused."""
    return getattr(node.target, "__name__", "") == "getitem"


# Constants -----------------------------------------------------------------------


def _fold_constants(exported: ExportedProgram) -> None:
    """Computes what depends on weights and buffers alone, as torch does, and
    notes it in the graph."""
    signature = exported.graph_signature
    held = {**exported.state_dict, **exported.constants}
    targets = {
        spec.arg.name: spec.target
        for spec in signature.input_specs
        if spec.kind
        in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    }
    known: dict[Node, tuple[str, torch.Tensor]] = {}
    for node in exported.graph_module.graph.nodes:
        if node.op == "placeholder" and node.name in targets:
            target = targets[node.name]
            known[node] = target, held[target].detach()
        elif _folds(node, known):
            args, kwargs = torch.fx.map_arg(
                (node.args, node.kwargs), lambda n: known[n][1]
            )
            with torch.no_grad():
                value = node.target(*args, **kwargs)
            if isinstance(value, torch.Tensor):
                known[node] = _folded_name(node, known), value
    for node, (name, value) in known.items():
        if value.dtype in DEVICE_DTYPES and value.numel() > 0:
            node.meta[CONSTANT] = Constant(name, to_numpy(value))


def _folds(node: Node, known: dict[Node, Any]) -> bool:
    return (
        node.op == "call_function"
        and isinstance(node.target, torch._ops.OpOverload)
        and torch.Tag.nondeterministic_seeded not in node.target.tags
        and node.target not in _PROVED
        and all(n in known for n in node.all_input_nodes)
    )


def _folded_name(node: Node, known: dict[Node, tuple[str, torch.Tensor]]) -> str:
    """ "fc.weight.T" for a transposed weight, else by the graph node."""
    sources = node.all_input_nodes
    if len(sources) != 1:
        return node.name
    name, value = known[sources[0]]
    if node.target == torch.ops.aten.permute.default and value.ndim == 2:
        return f"{name}.T"
    return f"{name}.{node.name}"


# Lowering ------------------------------------------------------------------------


def _lower(exported: ExportedProgram, builder: ProgramBuilder) -> None:
    """Adds the operations of the whole graph."""
    graph = exported.graph_module.graph
    ctx = Context(builder)
    values: dict[Node, Value] = {}
    ctx.live = lambda: iter([*values.values(), *ctx.done.values()])
    ctx.preference = _lowerings.preferred_layouts(graph).__getitem__
    _declare_inputs(exported, ctx, values)
    outputs = _declare_outputs(exported, ctx)
    needed = _needed(graph)
    last_use = {source: user for user in needed for source in user.all_input_nodes}
    kept = {node for node, _ in outputs}
    for node in needed:
        if node in ctx.done:
            values[node] = ctx.done.pop(node)
        else:
            ctx.start(node.name)
            called_from(place_of(node), lambda: _lower_node(ctx, node, values))
        for source in node.all_input_nodes:
            if last_use[source] is node and source not in kept:
                values.pop(source, None)
    for node, view in outputs:
        ctx.start(view.name)
        ctx.store(values.get(node) or node.meta[CONSTANT], view)


def _lower_node(ctx: Context, node: Node, values: dict[Node, Value]) -> None:
    row = _registry.find(node.target)
    assert row is not None, node.target

    def argument(source: Node) -> Value | Constant:
        return source.meta.get(CONSTANT) or values[source]

    args, kwargs = torch.fx.map_arg((node.args, node.kwargs), argument)
    values[node] = row.function(ctx, node, *args, **kwargs)


def _declare_inputs(
    exported: ExportedProgram, ctx: Context, values: dict[Node, Value]
) -> None:
    user_inputs = set(exported.graph_signature.user_inputs)
    for node in exported.graph_module.graph.nodes:
        if node.op != "placeholder" or node.name not in user_inputs:
            continue
        meta = node.meta.get("val")
        if not isinstance(meta, torch.Tensor):
            continue  # a number or None: part of the program
        shape = _check_boundary(meta, f"input {node.name}")
        name = ctx.unique(node.name)
        view = ctx.b.input(name, shape, DEVICE_DTYPES[meta.dtype])
        values[node] = ctx.from_hbm(view, meta.shape)


def _declare_outputs(exported: ExportedProgram, ctx: Context) -> list[tuple[Node, Any]]:
    output = next(n for n in exported.graph_module.graph.nodes if n.op == "output")
    nodes = [n for n in output.args[0] if isinstance(n, Node)]
    outputs = []
    for i, node in enumerate(nodes):
        meta = node.meta["val"]
        name = "output" if len(nodes) == 1 else f"output_{i}"
        shape = _check_boundary(meta, name)
        view = ctx.b.output(ctx.unique(name), shape, DEVICE_DTYPES[meta.dtype])
        outputs.append((node, view))
    return outputs


def _check_boundary(meta: Any, what: str) -> tuple[int, ...]:
    """The shape of an input or output, which the program must be able to have."""
    if meta.dtype not in DEVICE_DTYPES or meta.numel() == 0:
        raise make_fault(
            "torch.dtype" if meta.numel() else "torch.empty",
            f"{what} is {describe(meta)}; programs take tensors that are not empty, "
            f"of {', '.join(sorted(DEVICE_DTYPES.values()))}",
            operand=what,
            remedy="convert it before the module",
        )
    return tuple(meta.shape) or (1,)

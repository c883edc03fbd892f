"""The constructs that --strict-frontend names: one row each.

docs/nki-strict-frontend.md is this table; a test compares them.

Evidence, in falling order. "documented": a page of the NKI documentation says
it. "published": it follows from the source of the front end that its authors
published (github.com/leanprover/KLR: interop/klr/gather.c reads the Python
AST, KLR/NKI and KLR/Trace evaluate it). "inferred": it follows from the two,
without a sentence or a line that says it. What a published rule refuses and
documents show, or nki-library contains, is a warning ("disputed"), or no rule.
"""

from __future__ import annotations

from typing import NamedTuple

GUIDE = "NKI language guide"
TO_03 = "NKI migration guide, 0.2 to 0.3, language restrictions"
TO_06 = "NKI migration guide, 0.5 to 0.6"
TO_02 = "NKI migration guide, 0.1 to 0.2"
REGISTER = "nki.isa.VirtualRegister"
READ = "leanprover/KLR, interop/klr/gather.c"
SIMPLIFY = "leanprover/KLR, KLR/NKI/Simplify.lean"
EVALUATE = "leanprover/KLR, KLR/Trace/NKI.lean"
BUILTINS = "leanprover/KLR, KLR/Trace/Python.lean"


class Rule(NamedTuple):
    """A construct that the device's front end refuses or evaluates otherwise.

    construct and here are columns of the page; message is the finding's
    sentence, with {what} for the source text; instead is its remedy. parser
    and tracer say which of the two front ends the rule is about, effect what
    they do: "refused", "other result" or "disputed".
    """

    id: str
    construct: str
    message: str
    instead: str
    evidence: str
    reference: str
    parser: bool = True
    tracer: bool = False
    effect: str = "refused"
    here: str = "runs"

    @property
    def severity(self) -> str:
        """Of the finding: "error" of what is refused, else "warning"."""
        return "error" if self.effect == "refused" else "warning"


RULES = (
    # Expressions.
    Rule("comprehension", "list, dict and set comprehensions",
         "a comprehension: {what}",
         "fill a list in a for loop",
         "published", READ),
    Rule("generator", "generator expressions, `yield`",
         "a generator: {what}",
         "fill a list in a for loop",
         "published", READ),
    Rule("lambda", "`lambda`",
         "a lambda: {what}",
         "define a function at module level and pass its name",
         "published", READ),
    Rule("walrus", "`name := value` in an expression",
         "an assignment inside an expression: {what}",
         "assign in a statement of its own",
         "published", READ),
    Rule("starred", "`*` and `**` in calls, displays and assignments",
         "an expansion: {what}",
         "write the elements or arguments out, or pass the tuple itself",
         "published", SIMPLIFY),
    Rule("matmul_operator", "`@`",
         "the operator @: {what}",
         "call nisa.nc_matmul",
         "published", SIMPLIFY, here="refused"),
    Rule("identity", "`is`, `is not` with anything but None",
         "identity does not exist in the NKI language: {what}",
         "compare with == or !=",
         "documented", TO_03),
    Rule("set", "sets: displays, set(), frozenset(), global ones",
         "a set, which the NKI language does not have: {what}",
         "use a tuple; membership in one is supported",
         "published", READ),
    Rule("membership", "`in` a dict, an Enum class or another object",
         "`in` is for tuples, lists and strings: {what}",
         "write key in d.keys(), or search a tuple",
         "published", BUILTINS),
    Rule("dict_key", "dict keys that are not strings",
         "keys of a dict are strings: {what}",
         "use strings, or a list indexed by the number",
         "documented", GUIDE),
    Rule("integer", "integers of more than 32 bits",
         "integers have 32 bits: {what}",
         "stay between -2147483648 and 2147483647",
         "documented", GUIDE),
    Rule("literal", "bytes and complex numbers",
         "a value of a type the NKI language does not have: {what}",
         "use None, bool, int, float or str",
         "documented", GUIDE),
    Rule("format_spec", "format specifiers in f-strings",
         "a format specifier: {what}",
         "write {{name}} or {{name=}} alone",
         "published", READ),
    Rule("string_operator", "`%` and `*` of strings",
         "an operator that strings do not have: {what}",
         "use an f-string",
         "published", "leanprover/KLR, KLR/Trace/Term.lean"),
    Rule("slice_step", "slices with a negative step",
         "a slice with a negative step: {what}",
         "count down in a for loop: range(n - 1, -1, -1)",
         "published", "leanprover/KLR, KLR/Trace/Term.lean"),
    # Functions and classes.
    Rule("inner_function",
         "`def` in a function, but for the body of nl.fori_loop and "
         "nl.while_loop",
         "a function inside a function: {what}",
         "define it at module level and pass what it uses as arguments",
         "published", READ),
    Rule("inner_class", "`class` in a function",
         "a class inside a function: {what}",
         "define it at module level",
         "published", READ),
    Rule("closure", "variables of an enclosing function",
         "{what} belongs to an enclosing function; the front end sees "
         "globals only",
         "pass it as an argument, or define both at module level",
         "published", READ),
    Rule("variadic", "`*args` and `**kwargs` parameters",
         "a variable number of parameters: {what}",
         "name the parameters; pass a tuple where their number varies",
         "published", SIMPLIFY),
    Rule("keyword_only", "parameters behind `*`",
         "a keyword-only parameter: {what}",
         "remove the `*` and move parameters with defaults to the end",
         "documented", TO_03),
    Rule("list_argument", "lists as arguments of the kernel",
         "a list as an argument of the kernel: {what}",
         "pass a tuple",
         "documented", TO_03),
    Rule("decorator",
         "decorators but nki.jit, nki_jit, dataclass and staticmethod",
         "a decorator that is not nki.jit, dataclass or staticmethod: {what}",
         "remove it, or apply it outside the kernel",
         "published", SIMPLIFY),
    Rule("class_base", "classes without exactly the base NKIObject, Enum or "
         "NamedTuple",
         "a class whose base is not nl.NKIObject, Enum or NamedTuple: {what}",
         "derive it from nl.NKIObject and from nothing else",
         "documented", GUIDE),
    Rule("class_body", "class bodies with more than fields and methods; "
         "class keywords",
         "a class has fields and methods, nothing else: {what}",
         "move it out of the class",
         "published", READ),
    Rule("async", "`async`, `await`",
         "asynchronous code: {what}",
         "use plain functions",
         "published", READ),
    Rule("source", "functions whose source cannot be read",
         "the front end reads the source of {what}, and there is none",
         "define it in a file",
         "inferred", READ),
    # Statements.
    Rule("for_target", "tuples as the target of `for`",
         "the target of a for loop is one name: {what}",
         "loop over one name and index it in the body",
         "published", SIMPLIFY),
    Rule("loop_else", "`else` of a loop",
         "else of a loop: {what}",
         "set a flag before the loop and test it behind",
         "published", SIMPLIFY),
    Rule("import", "`import` in a function",
         "an import inside a function: {what}",
         "import at the top of the file",
         "published", READ),
    Rule("try", "`try`, `except`",
         "an exception handler: {what}",
         "test the condition with if",
         "published", READ),
    Rule("raise", "`raise`",
         "an exception: {what}",
         "assert the condition, with a message",
         "published", READ),
    Rule("with", "`with` of anything but nl.no_reorder()",
         "a context other than nl.no_reorder(): {what}",
         "write with nl.no_reorder(): alone, or none",
         "published", SIMPLIFY),
    Rule("global", "`global`, `nonlocal`, attributes of modules and classes "
         "as targets",
         "an assignment outside the function: {what}",
         "pass a dict or an NKIObject between the functions",
         "published", READ),
    Rule("del", "`del`",
         "del: {what}",
         "leave the name alone; d.pop(key) removes a key",
         "published", READ),
    Rule("match", "`match`, `type`",
         "a statement the NKI language does not have: {what}",
         "use if and elif",
         "published", READ),
    Rule("assignment", "targets that mix names with elements or attributes",
         "a tuple of targets has names only, and one statement changes one "
         "element: {what}",
         "assign to a name, then to the element",
         "published", SIMPLIFY),
    Rule("list_element", "assignment to `l[-1]` or to a slice of a list",
         "an element of a list is assigned by an index from 0 on: {what}",
         "write l[len(l) - 1], and one assignment for each element",
         "published", EVALUATE),
    Rule("item_assignment", "assignment to elements of a tensor",
         "the published front end has no assignment to elements of a tensor, "
         "though pages show it: {what}",
         "pass the view as dst= of an instruction",
         "published", EVALUATE, effect="disputed"),
    Rule("iterate", "loops over a dict, string, tensor or NKIObject",
         "for loops run over range(), lists and tuples: {what}",
         "loop over d.keys(), or over range(len(x))",
         "published", BUILTINS),
    # What is called.
    Rule("builtin", "built-in functions outside the list below",
         "a built-in function the NKI language does not have: {what}",
         "write a for loop over range(len(x)), or a function of your own",
         "published", BUILTINS),
    Rule("builtin_argument", "keyword and surplus arguments of built-ins",
         "an argument the NKI language does not evaluate: {what}",
         "leave it out: min and max take two numbers or one sequence, int "
         "one value, pop() of a list none, isinstance one class",
         "published", BUILTINS),
    Rule("method", "methods of lists, dicts, tuples and strings outside the "
         "list below",
         "a method the NKI language does not have: {what}",
         "write a for loop, or an f-string",
         "published", BUILTINS),
    Rule("math", "functions of math outside the list below",
         "a function of math the NKI language does not have: {what}",
         "compute it outside the kernel and pass it as an argument",
         "published", BUILTINS),
    Rule("library_call", "calls of NumPy, torch and the standard library",
         "a call of a library that is not NKI: {what}",
         "compute it outside the kernel and pass it as an argument",
         "published", READ),
    Rule("object", "global objects of classes the front end does not read",
         "a global object of a class that is not an NKIObject: {what}",
         "use numbers, strings, tuples, or a class derived from "
         "nl.NKIObject",
         "published", READ),
    Rule("neuronxcc", "names of `neuronxcc`",
         "neuronxcc.nki inside a kernel: {what}",
         "use nki, nki.language and nki.isa",
         "documented", "NKI migration guide, 0.3 to 0.4", tracer=True,
         here="refused"),
    # Registers and loops of the device.
    Rule("loop_exit", "`break`, `continue`, `return` in a loop of the device",
         "a loop of the device runs to its end: {what}",
         "use nl.while_loop, whose body returns when to go on",
         "published", EVALUATE, here="refused; `continue` runs"),
    Rule("loop_value", "a body of nl.fori_loop that returns a value",
         "the body of fori_loop returns nothing: {what}",
         "keep the value in a tensor that exists before the loop",
         "documented", TO_06, tracer=True, here="refused"),
    Rule("loop_in_no_reorder", "loops of the device in nl.no_reorder()",
         "a loop of the device inside no_reorder: {what}",
         "put no_reorder around what is inside the loop",
         "documented", "nki.language.no_reorder", tracer=True,
         here="refused"),
    Rule("register_value", "registers in int(), range(), comparisons",
         "the value of a register is not known to the front end: {what}",
         "compute it with an instruction; a register alone may be the "
         "condition of while, or the bound of nl.dynamic_range",
         "published", EVALUATE, here="refused"),
    Rule("register_control", "registers in `if`, `while`, int(), range()",
         "the tracer does not know the value of a register: {what}",
         "use nl.fori_loop or nl.while_loop",
         "documented", REGISTER, parser=False, tracer=True,
         here="refused; `while` runs"),
    Rule("dynamic_range", "nl.dynamic_range",
         "nl.dynamic_range is a loop of the parser: {what}",
         "use nl.fori_loop",
         "documented", REGISTER, parser=False, tracer=True),
    # Evaluated otherwise: warnings.
    Rule("mutable_global", "global lists, dicts and arrays that may change",
         "kernels are cached by their arguments, and {what} is not one: "
         "a change of it may go unseen",
         "pass it as an argument, or make it a tuple",
         "documented", GUIDE, tracer=True, effect="other result"),
    Rule("chained_comparison", "chained comparisons that call something",
         "every link of a chain is evaluated, and the middle ones twice: "
         "{what}",
         "assign the calls to names first, or join two comparisons with and",
         "published", SIMPLIFY, effect="other result"),
    Rule("list_search", "l.count(x), l.index(x), l.remove(x)",
         "on the device count is the number of elements, index of what is "
         "absent is None, and remove takes all: {what}",
         "write a for loop",
         "published", BUILTINS, effect="other result"),
)  # fmt: skip

BY_ID = {rule.id: rule for rule in RULES}

# What the published front end has; the first three rows of BUILTINS, and
# what nki-library calls in kernels beyond them: nothing.
FUNCTIONS = frozenset(
    "abs bool dict divmod float int isinstance len list max min print range "
    "slice str tuple type".split()
)
MATH = frozenset("ceil floor gcd log2 log10 pow sqrt".split())
METHODS = {
    "list": frozenset(
        "append clear copy count extend index pop remove reverse".split()
    ),
    "dict": frozenset(
        "clear copy get items keys pop setdefault values".split()
    ),
    "tuple": frozenset[str](),
    "str": frozenset[str](),
    "set": frozenset[str](),
}

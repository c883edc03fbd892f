"""Ways for an unmodified script to find trnemu.nki: python -m trnemu.nki, a
directory in PYTHONPATH, TRNEMU_NKI=1, install(); and how its faults end it."""

import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from cli_kit import FAULT, ROOT, SUCCESS, UNSUPPORTED, USAGE

import trnemu
import trnemu.nki
from trnemu import Fault
from trnemu.nki import _command, _install, _options

Run = Callable[..., "subprocess.CompletedProcess[str]"]

KERNEL = """
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def double(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=y, src=tile)
    return y

x = np.arange(128 * 4, dtype=np.float32).reshape(128, 4)
"""
DOUBLE = KERNEL + "print(np.array_equal(double(x), 2 * x))\n"
# tensor_tensor needs a data2 of data1's shape.
BROKEN = KERNEL.replace("data2=tile", "data2=tile[0:64]") + "double(x)\n"


@pytest.fixture
def run(tmp_path: pathlib.Path) -> Run:
    """Runs Python in a folder with the files given, without variables that
    would change the options."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NKI_", "NEURON_", "TRNEMU_NKI"))
    }
    package = str(pathlib.Path(trnemu.__file__).parents[1])
    clean["PYTHONPATH"] = package

    def call(
        *arguments: str, files: dict[str, str] | None = None, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        for name, text in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**clean, **env},
        )

    return call


@pytest.fixture
def installed() -> Iterator[None]:
    _install.install()
    yield
    _install.uninstall()


def test_an_unmodified_script_runs(run: Run) -> None:
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": DOUBLE})
    assert (done.stdout, done.returncode) == ("True\n", SUCCESS), done.stderr


def test_a_script_sees_what_python_shows_it(run: Run) -> None:
    script = """
    import os, pickle, sys
    import beside
    class C: pass
    print(sys.argv, __name__, __file__, os.path.basename(sys.path[0]))
    print(sys.modules["__main__"].C is C, __spec__)
    assert type(pickle.loads(pickle.dumps(C()))) is C
    """
    files = {"sub/k.py": script, "sub/beside.py": ""}
    arguments = ("sub/k.py", "--target", "x", "-m")
    plain = run(*arguments, files=files)
    ours = run("-m", "trnemu.nki", "--target", "trn1", *arguments, files=files)
    assert plain.returncode == 0, plain.stderr
    assert (ours.stdout, ours.returncode) == (plain.stdout, 0), ours.stderr


def test_a_module_runs_as_python_runs_it(run: Run) -> None:
    files = {
        "pack/__init__.py": "",
        "pack/k.py": "import sys\nfrom . import other\nimport os\n"
        "print(sys.argv, __name__, __package__, os.path.basename(sys.path[0]))",
        "pack/other.py": "",
    }
    plain = run("-m", "pack.k", "--x", files=files)
    ours = run("-m", "trnemu.nki", "--strict", "-m", "pack.k", "--x")
    assert plain.returncode == 0, plain.stderr
    assert (ours.stdout, ours.returncode) == (plain.stdout, 0), ours.stderr


def test_a_folder_with_a_main_runs(run: Run) -> None:
    files = {"app/__main__.py": "import sys; print(__name__, sys.argv)"}
    done = run("-m", "trnemu.nki", "app", "a", files=files)
    assert done.stdout == "__main__ ['app', 'a']\n", done.stderr


def test_a_script_s_own_exit_code_is_kept(run: Run) -> None:
    files = {"k.py": "raise SystemExit(7)"}
    done = run("-m", "trnemu.nki", "k.py", files=files)
    assert done.returncode == 7


def test_a_fault_ends_the_script_with_its_report_alone(run: Run) -> None:
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": BROKEN})
    assert done.returncode == FAULT
    start = "error: illegal [tensor_tensor.partitions]: tensor_tensor: dst, "
    assert done.stderr.startswith(start), done.stderr
    assert "k.py:12 in double" in done.stderr
    assert "Traceback" not in done.stderr


def test_traceback_shows_python_s_frames_of_the_script_only(run: Run) -> None:
    done = run(
        "-m", "trnemu.nki", "--traceback", "k.py", files={"k.py": BROKEN}
    )
    assert done.returncode == FAULT
    first, second = done.stderr.splitlines()[:2]
    assert first == "Traceback (most recent call last):"
    assert 'k.py", line 17, in <module>' in second


def test_another_exception_has_python_s_traceback_from_the_script_on(
    run: Run,
) -> None:
    files = {"k.py": "def f():\n    1 / 0\nf()\n"}
    plain = run("k.py", files=files)
    ours = run("-m", "trnemu.nki", "k.py", files=files)
    assert ours.returncode == plain.returncode == 1
    assert ours.stderr == plain.stderr


def test_what_is_unsupported_exits_with_3(run: Run) -> None:
    script = "from nki.compiler import frontend\nfrontend.TracerFrontend().compile()\n"
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": script})
    assert done.returncode == UNSUPPORTED
    assert "nki.compiler" in done.stderr


def test_the_old_generation_is_refused_with_a_sentence(run: Run) -> None:
    script = "x = 1\nimport neuronxcc.nki.language as nl\n"
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": script})
    assert done.returncode == UNSUPPORTED, done.stderr
    assert "is of the older generation of NKI" in done.stderr
    assert "k.py:2 in <module>" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "import neuronxcc.nki.isa",
        "from neuronxcc import nki; nki.jit",
        "import neuronxcc.nki as nki; nki.benchmark",
        "from neuronxcc.nki import baremetal",
        "from neuronxcc.nki.language import arange",
    ],
)
def test_every_use_of_the_old_generation_is_refused(
    installed: None, line: str
) -> None:
    with pytest.raises(Fault, match="older generation") as caught:
        exec(line, {})
    assert caught.value.id == "nki.old_generation"
    assert isinstance(caught.value, ImportError)


def test_annotations_of_the_old_generation_are_the_new_ones(run: Run) -> None:
    script = """
    import neuronxcc.nki.typing as nt
    import nki.typing
    assert nt is nki.typing
    try:
        import neuronxcc.nki.language
    except ImportError as error:
        print(type(error).__name__)
    """
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": script})
    assert done.stdout == "ImportFault\n", done.stderr


def test_what_the_vendor_s_package_has_besides_is_named(run: Run) -> None:
    script = "import nki\nimport nki.framework.kernel\n"
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": script})
    assert done.returncode == UNSUPPORTED
    assert "trnemu has no nki.framework: it runs kernels" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "what script should it run?"),
        (("none.py",), "there is no file none.py"),
        (("-m", "none"), "there is no module none"),
        (("--tagret", "trn1", "k.py"), "unrecognized arguments: --tagret"),
        (("--target", "trn9", "k.py"), "target must be one of trn1, inf2"),
        (("--api-version", "2", "k.py"), "api must be one of 0.2"),
        (("--numerics", "matmul", "k.py"), "takes KEY=VALUE,..., and 'matm"),
        (("--numerics", "a=b", "k.py"), "numerics has no key 'a'; there are"),
        (("--checks", "few", "k.py"), "full, memory, off, not 'few'"),
        (("--schedule", "-1", "k.py"), "a whole number, not '-1'"),
        (("--schedule", "x", "k.py"), "schedule must be timed, program"),
        (("--precise-fp", "2", "k.py"), "invalid choice: '2'"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", sys.argv[:])
    try:
        with pytest.raises(SystemExit) as caught:
            _command.main(arguments)
    finally:
        _options.clear_defaults()
        _install.uninstall()
    assert caught.value.code == USAGE
    assert message in capsys.readouterr().err


def test_a_wrong_environment_is_a_wrong_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn9")
    with pytest.raises(SystemExit) as caught:
        _command.main(["none.py"])
    assert caught.value.code == USAGE
    error = capsys.readouterr().err
    assert "NEURON_PLATFORM_TARGET_OVERRIDE must be one of trn1" in error


def test_options_are_the_launches_defaults(run: Run) -> None:
    script = KERNEL + """
print(nl.tile_size.sbuf_size_bytes >> 20)
double(x)
print(double.result.summary().splitlines()[0])
from trnemu.nki import _options
print(_options.defaults())
"""
    done = run(
        "-m",
        "trnemu.nki",
        *("--target", "gen4", "--api-version", "0.5", "--checks", "memory"),
        *("--numerics", "matmul=chain", "--strict"),
        *("--allow", "alu.nan,nan.produced"),
        *("--seed", "3", "--schedule", "5", "--precise-fp", "0"),
        *("--max-instructions", "1000", "--time", "off"),
        *("--max-wall-time", "60", "--stop-at-nan", "k.py"),
        files={"k.py": script},
        NEURON_PLATFORM_TARGET_OVERRIDE="trn1",
    )
    assert done.returncode == SUCCESS, done.stderr
    size, summary, options = done.stdout.splitlines()
    assert size == "32"
    assert "trn3" in summary
    assert options.startswith(
        "Options(target='trn3', api=(0, 5), numerics={'matmul': 'chain'}, "
        "checks='memory', allow=('alu.nan', 'nan.produced'), strict=True, "
        "strict_frontend=False, seed=3, schedule=5, precise_fp=False, "
        "max_instructions=1000, max_wall_time=60.0, time=False, stop_at_nan=True"
    )


@pytest.mark.parametrize("driver", ["torch_xla", "jax.numpy"])
def test_a_script_that_drives_a_device_gets_a_hint(
    run: Run, driver: str
) -> None:
    script = f"import sys; sys.modules[{driver!r}] = None\nimport {driver}\n"
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": script})
    assert done.returncode == FAULT
    assert "ModuleNotFoundError" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"hint: {driver.partition('.')[0]}")
    assert "call them with arrays of NumPy" in last
    other = run("-m", "trnemu.nki", "k.py", files={"k.py": "import nothing_"})
    assert "hint:" not in other.stderr and other.returncode == FAULT


def test_a_script_that_launches_no_kernel_is_told(run: Run) -> None:
    for files, said in (
        (KERNEL, "defines 1 kernel and launches none"),
        (KERNEL + "nki.jit(double)\n", "defines 2 kernels and launches none"),
        (DOUBLE, ""),
        (KERNEL + "import trnemu.nki\ntrnemu.nki.trace(double, x)\n", ""),
        ("print(1)\n", ""),
    ):
        done = run("-m", "trnemu.nki", "k.py", files={"k.py": files})
        assert done.returncode == SUCCESS
        assert said in done.stderr if said else done.stderr == ""


def test_a_summary_says_where_its_target_comes_from(run: Run) -> None:
    """Public samples set the variable when they are imported."""
    variable = "NEURON_PLATFORM_TARGET_OVERRIDE"
    script = f"import os; os.environ[{variable!r}] = 'trn3'\n" + DOUBLE
    call = ("-m", "trnemu.nki", "--summary")
    done = run(*call, "k.py", files={"k.py": script})
    assert done.stderr.startswith(f"double, on trn3 as {variable} says:\n")
    done = run(*call, "--target", "trn1", "k.py", files={"k.py": script})
    assert done.stderr.startswith("double:\ntarget        trn1\n")


def test_the_help_s_example_works(run: Run) -> None:
    text = run("-m", "trnemu.nki", "--help").stdout
    script = text.partition("<<'END'\n")[2].partition("\nEND\n")[0]
    line = text.partition("\nEND\npython ")[2].partition("\n")[0]
    done = run(*line.split(), files={"double.py": script})
    assert done.returncode == SUCCESS, done.stderr
    assert done.stdout.startswith("[[2. 2. 2. ")


# Prints that nki's modules are trnemu.nki's, in whichever order imported.
SAME = """
import nki.isa as nisa
from nki.isa.constants import dge_mode
import nki
import nki.language as nl, nki.collectives, nki.typing, nki.compiler
import nki.compiler.frontend, nki.compiler.ncc_driver, nki.dtype, nki.tensor
import nki.experimental
import sys
import trnemu.nki
import trnemu.nki.isa.constants
assert nki is trnemu.nki and nl is trnemu.nki.language
assert dge_mode is trnemu.nki.isa.constants.dge_mode
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] == "nki":
        assert module is sys.modules["trnemu." + name], name
        assert module.__spec__.name == "trnemu." + name, name
        assert module.__name__ == "trnemu." + name, name
print("same")
"""


def test_nki_is_the_package_s_own_modules(run: Run) -> None:
    done = run("-m", "trnemu.nki", "k.py", files={"k.py": SAME})
    assert done.stdout == "same\n", done.stderr


def test_a_directory_in_pythonpath_is_enough(run: Run) -> None:
    path = run("-m", "trnemu.nki", "--path").stdout.strip()
    assert path == _install.path()
    done = run("k.py", files={"k.py": SAME}, PYTHONPATH=path)
    assert done.stdout == "same\n", done.stderr
    done = run("k.py", files={"k.py": DOUBLE}, PYTHONPATH=path)
    assert done.stdout == "True\n", done.stderr


def site(tmp_path: pathlib.Path) -> str:
    """Python that starts with a site-packages such as pip makes."""
    packages = tmp_path / "site"
    packages.mkdir()
    (packages / "trnemu").symlink_to(pathlib.Path(trnemu.__file__).parent)
    shutil.copy(ROOT / "frontend/python/trnemu_nki.pth", packages)
    return f"import site; site.addsitedir({str(packages)!r})\n"


@pytest.mark.parametrize(("value", "stdout"), [("1", "same\n"), ("0", "")])
def test_an_environment_variable_switches_it_on(
    run: Run, tmp_path: pathlib.Path, value: str, stdout: str
) -> None:
    start = site(tmp_path)
    done = run(
        "k.py", files={"k.py": start + SAME}, TRNEMU_NKI=value, PYTHONPATH=""
    )
    assert done.stdout == stdout, done.stderr
    assert ("No module named 'nki'" in done.stderr) == (not stdout)


def test_install_is_for_this_process(installed: None) -> None:
    _install.install()
    assert importlib.import_module("nki.isa") is trnemu.nki.isa
    assert importlib.import_module("nki") is trnemu.nki


def test_uninstall_takes_it_back(installed: None) -> None:
    importlib.import_module("nki.isa.constants")
    _install.uninstall()
    assert not [n for n in sys.modules if n.partition(".")[0] == "nki"]
    with pytest.raises(ModuleNotFoundError, match="No module named 'nki'"):
        importlib.import_module("nki")
    assert importlib.import_module("trnemu.nki.isa") is trnemu.nki.isa


def test_install_refuses_when_another_nki_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = ModuleType("nki")
    other.__file__ = "/somewhere/nki/__init__.py"
    monkeypatch.setitem(sys.modules, "nki", other)
    with pytest.raises(ImportError, match="already imported from /somewhere"):
        _install.install()
    assert sys.modules["nki"] is other


def test_a_vendor_s_compiler_keeps_what_is_its_own(
    installed: None, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "neuronxcc/nki").mkdir(parents=True)
    for name in ("__init__.py", "driver.py", "nki/__init__.py", "nki/isa.py"):
        (tmp_path / "neuronxcc" / name).write_text(f"is_vendors = {name!r}\n")
    monkeypatch.syspath_prepend(tmp_path)
    driver = importlib.import_module("neuronxcc.driver")
    try:
        assert driver.is_vendors == "driver.py"
        with pytest.raises(Fault, match="older generation"):
            importlib.import_module("neuronxcc.nki.isa")
    finally:
        for name in [n for n in sys.modules if n.startswith("neuronxcc")]:
            del sys.modules[name]

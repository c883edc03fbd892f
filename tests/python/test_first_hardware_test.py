"""The code of docs/first-hardware-test.md runs as it stands there, in Python
and as a CMake project of its own that finds an installed trnemu."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

from cli_kit import BINARY, ROOT
from trnemu import pytest_plugin

GUIDE = (ROOT / "docs/first-hardware-test.md").read_text()
BUILD = pathlib.Path(BINARY).resolve().parents[1]


def code(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def command_lines() -> list[list[str]]:
    """The arguments of the guide's pytest lines."""
    lines = code("console")[0].splitlines()
    assert all(line.startswith("pytest test_copy.py") for line in lines)
    return [line.split()[1:] for line in lines]


@pytest.fixture
def project(tmp_path):
    (text,) = code("python")
    (tmp_path / "test_copy.py").write_text(text)
    return tmp_path


def run_pytest(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "trnemu.pytest_plugin",
         "-p", "no:cacheprovider", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("arguments", "passed"),
    # 4 tests, one of them not for trn1; on 3 targets; on trn1 and trn3
    list(zip(command_lines(), (4, 11, 7), strict=True)))
def test_the_python_of_the_guide_passes_with_its_command_lines(
        project, arguments, passed):
    result = run_pytest(project, *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{passed} passed" in result.stdout


def test_a_test_of_the_guide_that_expects_something_else_prints_the_table(
        project):
    file = project / "test_copy.py"
    file.write_text(file.read_text().replace("[[0, 2, 2, 0,", "[[0, 2, 3, 0,"))
    result = run_pytest(project)
    assert "1 failed, 3 passed" in result.stdout
    (table,) = code("text")
    for line in table.splitlines()[:3]:
        assert line.rstrip() in result.stdout


def run(*arguments, cwd):
    result = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True,
                            timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_cpp_of_the_guide_is_a_project_that_finds_an_installed_trnemu(
        tmp_path):
    if not list(BUILD.rglob("libtrnemu_testing.a")):
        pytest.skip("the target trnemu_testing is not built")
    cmake = shutil.which("cmake")
    prefix, work = tmp_path / "prefix", tmp_path / "work"
    work.mkdir()
    run(cmake, "--install", BUILD, "--component", "testing", "--prefix",
        prefix, cwd=work)
    (cmakelists,), (source,) = code("cmake"), code("cpp")
    assert len(cmakelists.splitlines()) <= 10
    (work / "CMakeLists.txt").write_text(cmakelists)
    (work / "copy_test.cc").write_text(source)
    configure, build, test = code("console")[1].split("&&")
    assert configure.split() == [
        "cmake", "-B", "build", "-DCMAKE_PREFIX_PATH=DIR"]
    run(cmake, "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", cwd=work)
    run(*build.split(), cwd=work)
    said = run(*test.split(), cwd=work)
    # 3 tests on 3 generations, and one of waits
    assert re.search(r"100% tests passed.* out of 10\n", said), said
    program = work / "build/copy_test"
    assert "libtrnemu" not in run("ldd", program, cwd=work)


def test_the_installed_header_shows_std_types_only():
    text = (ROOT / "frontend/testing/testing.h").read_text()
    included = re.findall(r"^#include (.*)$", text, re.MULTILINE)
    assert all(re.fullmatch(r"<(g(test|mock)/g(test|mock)\.h|\w+)>", name)
               for name in included), included
    assert "absl::" not in text and "pb::" not in text


def test_pytest_finds_the_plugin_of_an_installed_trnemu():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {
        "trnemu": "trnemu.pytest_plugin"}
    assert callable(pytest_plugin.pytest_addoption)

"""The trnemu binary: broken files, verify, asm, disasm, diff, long runs."""

import io
import json
import os
import pty
import random
import signal
import struct
import subprocess
import tarfile
import time

import pytest

from cli_kit import (  # noqa: F401 (case is a fixture)
    BINARY, DOUBLE, FAULT, HEADER, MALFORMED, SUCCESS, UNSUPPORTED, USAGE,
    assemble, case, refuses, trnemu)

# ---- program files ----


def header_of(data):
    return struct.unpack_from("<I", data, 12)[0]


def with_header(data, header):
    """The file with another header; the data section keeps its alignment."""
    start = end = 16 + header_of(data)
    section = data.rindex(bytes.fromhex("0000803f00000040"))
    while any(data[end:section]):  # what is left is not all padding
        end += 4 + struct.unpack_from("<I", data, end)[0]
    front = data[:12] + struct.pack("<I", len(header)) + header
    front += data[start:end]
    front += b"\0" * (-len(front) % 4096)
    return front + data[section:]


@pytest.fixture
def broken(case):
    def check(data, code, *texts):
        path = case.directory / "broken.trn"
        path.write_bytes(data)
        for verb in ("run", "verify", "disasm", "info"):
            refuses(trnemu(verb, path), code, *texts)
        return path
    check.good = case.program.read_bytes()
    return check


def test_truncated_programs(broken):
    data = broken.good
    for size in (0, 3, 8, 12, 15, 40, header_of(data) + 20, len(data) - 1):
        broken(data[:size], MALFORMED, "malformed.truncated")


def test_random_programs(broken):
    noise = random.Random(1)
    broken(noise.randbytes(5000), MALFORMED, "malformed.magic")
    broken(b"TRNEMU\r\n" + struct.pack("<I", 1) + noise.randbytes(5000),
           MALFORMED)


def test_mutated_programs_never_crash(case):
    noise = random.Random(2)
    good = bytearray(case.program.read_bytes())
    section = good.rindex(bytes.fromhex("0000803f00000040"))
    used = len(good[:section].rstrip(b"\0"))
    path = case.directory / "mutated.trn"
    for _ in range(150):
        bad = bytearray(good)
        for _ in range(noise.choice((1, 1, 2, 8))):
            bad[noise.randrange(8, used)] = noise.randrange(256)
        path.write_bytes(bad)
        result = trnemu("run", path, "--values", "off", "--max-instructions",
                        1000)
        assert result.returncode in (0, 1, 2, 3, 4), (
            result.returncode, result.stderr)


def test_newer_container(broken):
    data = broken.good
    broken(data[:8] + struct.pack("<I", 2) + data[12:], MALFORMED,
           "made by a newer trnemu")
    broken(data[:8] + struct.pack("<I", 0) + data[12:], MALFORMED, "version 0")


def test_unknown_fields(broken):
    data = broken.good
    header = data[16:16 + header_of(data)]
    unknown = bytes([0xc0, 0x3e, 7])  # field 1000, varint 7
    assert with_header(data, header) == data
    broken(with_header(data, header + unknown), MALFORMED,
           "unknown field, number 1000")


def test_text_transfer_and_trailing_bytes(broken):
    data = broken.good
    broken(data.replace(b"\r\n", b"\n", 1), MALFORMED, "as text")
    broken(data + b"x", MALFORMED, "1 more byte")
    broken(DOUBLE.encode(), MALFORMED, "trnemu asm")


def test_neff_is_recognised_and_refused(broken):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        info = tarfile.TarInfo("neff.json")
        info.size = 2
        tar.addfile(info, io.BytesIO(b"{}"))
    broken(b"\2\0\0\0".ljust(1024, b"\0") + archive.getvalue(), UNSUPPORTED,
           "NEFF", "trnemu.torch")


def test_missing_program(tmp_path):
    for verb in ("run", "verify", "disasm", "info"):
        refuses(trnemu(verb, tmp_path / "none.trn"), USAGE, "No such file")
        refuses(trnemu(verb, tmp_path), USAGE, "Is a directory")


def test_a_tensor_of_a_terabyte_is_refused_at_once(tmp_path):
    program = assemble(tmp_path, HEADER +
                       "tensor 0 x input float32 (1048576, 262144)\ncore 0\n")
    start = time.monotonic()
    refuses(trnemu("run", program), FAULT, "capacity.hbm", "1099511627776")
    refuses(trnemu("run", program, "--values", "off"), FAULT, "capacity.hbm")
    assert trnemu("verify", program).returncode == FAULT
    assert time.monotonic() - start < 20


# ---- verify, asm, disasm, diff ----


def test_verify_says_that_there_are_no_findings(case):
    result = trnemu("verify", case.program)
    assert result.returncode == SUCCESS and "No findings" in result.stdout
    report = json.loads(trnemu("verify", case.program, "--json").stdout)
    assert report["schema"] == "trnemu.verify" and report["version"] == 1
    assert report["findings"] == [] and report["errors"] == 0
    assert report["layers"] == ["device", "backend"]


def test_verify_lists_every_finding(tmp_path):
    text = DOUBLE.replace("dst=u[0:4, 0+8x1]", "dst=u[0:4, 0+4x1]").replace(
        "dst=z[0+32x1]", "dst=z[1+32x1]")
    program = assemble(tmp_path, text)
    result = trnemu("verify", program)
    assert result.returncode == FAULT
    assert "access.out_of_bounds" in result.stdout
    assert "tensor_scalar" in result.stdout
    report = json.loads(trnemu("verify", program, "--json").stdout)
    assert report["errors"] == len(report["findings"]) >= 2
    assert report["exit_code"] == FAULT
    # A run stops, and lists the same.
    refuses(trnemu("run", program), FAULT, "access.out_of_bounds",
            "tensor_scalar")


def test_verify_layers(case):
    result = trnemu("verify", case.program, "--layers",
                    "device,backend,api,lint")
    assert result.returncode == SUCCESS, result.stdout
    refuses(trnemu("verify", case.program, "--layers", "wish"), USAGE, "wish")


def test_asm_and_disasm_are_lossless(case):
    text = trnemu("disasm", case.program).stdout
    again = assemble(case.directory, text, "again")
    assert again.read_bytes() == case.program.read_bytes()
    result = trnemu("diff", case.program, again)
    assert result.returncode == SUCCESS and "equal" in result.stdout


def test_asm_names_the_line(tmp_path):
    source = tmp_path / "bad.txt"
    source.write_text(DOUBLE.replace("op0=multiply", "op0=multiplied"))
    result = trnemu("asm", source, "-o", tmp_path / "bad.trn")
    refuses(result, MALFORMED, "bad.txt", "line", "multiplied")
    assert not (tmp_path / "bad.trn").exists()


def test_diff_shows_the_first_difference(case):
    other = assemble(case.directory,
                     DOUBLE.replace("op0=multiply", "op0=add"), "other")
    result = trnemu("diff", case.program, other)
    assert result.returncode == FAULT
    assert "op0=multiply" in result.stdout and "op0=add" in result.stdout
    report = json.loads(trnemu("diff", case.program, other, "--json").stdout)
    assert report["schema"] == "trnemu.diff" and report["equal"] is False
    log = case.directory / "a.log"
    log.write_text("a line\n")
    refuses(trnemu("diff", case.program, log), USAGE, "two programs")


# ---- long runs ----


@pytest.fixture(scope="module")
def long_program(tmp_path_factory):
    lines = "".join(
        f"  vector #{i} memset.0 Memset dst=t[0:128, 0+512x1]:float32 value=1\n"
        for i in range(60000))
    return assemble(
        tmp_path_factory.mktemp("long"), HEADER + "operation 0 memset\n"
        "tensor 0 t sbuf float32 (128, 512) core=0 partition=0 address=0\n"
        "core 0\n" + lines)


def test_interrupt_stops_cleanly(long_program, tmp_path):
    log = tmp_path / "log"
    process = subprocess.Popen(
        [BINARY, "run", long_program, "--log", log], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (log.exists() and log.stat().st_size) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "interrupted" in err and out == ""
    assert trnemu("run", long_program,
                  "--max-instructions", 60000).returncode == SUCCESS


def test_progress_is_shown_on_a_terminal_only(long_program, tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BINARY, "run", long_program, "--log", tmp_path / "log"],
        stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while b"s\x1b[K" not in seen and process.poll() is None:
        try:
            seen += os.read(ours, 1000)
        except OSError:  # the other end is closed
            break
    process.kill()
    process.wait()
    os.close(ours)
    assert b"trnemu: " in seen

"""Options of NKI kernels: what they are, and which source goes before which."""

from typing import Any

import pytest

from trnemu.nki import _options


def test_options_come_from_arguments_then_the_command_then_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _options.defaults().target == "trn2"
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "gen4")
    assert _options.defaults().target == "trn3"
    _options.set_defaults(target="inf2", seed=7)
    try:
        assert _options.defaults().target == "trn1"
        assert _options.defaults(target="gen3").target == "trn2"
        assert _options.defaults(target=None).seed == 7
    finally:
        _options.clear_defaults()
    assert _options.defaults().target == "trn3"


def test_the_environment_sets_the_other_options_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "NKI_PRECISE_FP": "0",
        "NKI_SIMULATOR": "1",
        "TRNEMU_NKI_API": "0.3",
        "TRNEMU_NKI_STRICT_FRONTEND": "1",
    }.items():
        monkeypatch.setenv(name, value)
    found = _options.defaults()
    assert not found.precise_fp and found.strict_frontend
    assert found.api == (0, 3)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("NEURON_PLATFORM_TARGET_OVERRIDE", "trn9", "trn1, inf2, gen2, trn2"),
        ("NKI_PRECISE_FP", "yes", "must be 0 or 1, not 'yes'"),
        ("NKI_SIMULATOR", "2", "must be 0 or 1"),
        ("TRNEMU_NKI", "on", "must be 0 or 1"),
        ("TRNEMU_NKI_API", "0.7", "0.2, 0.3, 0.4, 0.5, 0.6, not '0.7'"),
        ("TRNEMU_NKI_STRICT_FRONTEND", "x", "must be 0 or 1"),
    ],
)
def test_a_wrong_value_in_the_environment_is_refused_with_the_list(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValueError, match=f"{variable}.*{message}"):
        _options.defaults()


@pytest.mark.parametrize(
    ("option", "value", "error", "message"),
    [
        ("target", "trn4", ValueError, "target must be one of trn1"),
        ("api", "1", ValueError, "api must be one of 0.2"),
        ("api", 0.6, ValueError, "api must be one of 0.2"),
        ("numerics", {"matmull": "chain"}, ValueError, "no key 'matmull'"),
        ("numerics", {"matmul": "x"}, ValueError, "matmul must be one of"),
        ("numerics", "matmul=chain", TypeError, "numerics must be a dict"),
        ("checks", "some", ValueError, "full, memory, off, not 'some'"),
        ("allow", "race.read_write", TypeError, "allow must be a list of ids"),
        ("strict", 1, TypeError, "strict must be True or False"),
        ("schedule", "slow", ValueError, "schedule must be timed, program"),
        ("seed", "x", TypeError, "seed must be a whole number"),
        ("tagret", "trn2", TypeError, "there is no option 'tagret'"),
    ],
)
def test_a_wrong_option_is_refused_with_the_list(
    option: str, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _options.defaults(**{option: value})


def test_versions_of_the_api_have_several_spellings() -> None:
    for given in ("0.5", "0.5.0", (0, 5), [0, 5]):
        assert _options.api_version(given) == (0, 5)

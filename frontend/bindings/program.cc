// Program: loading, saving, text, verification.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/bindings/bindings.h"
#include "isa/container.h"
#include "isa/text.h"
#include "isa/verify.h"

namespace trnemu::bindings {
namespace {

BoundProgram Share(absl::StatusOr<Program> program) {
  if (!program.ok()) Raise(program.status());
  return {std::make_shared<const Program>(*std::move(program))};
}

BoundProgram Load(const std::filesystem::path& path) {
  absl::StatusOr<Program> program;
  {
    const nb::gil_scoped_release release;
    program = ReadProgram(path.string());
  }
  return Share(std::move(program));
}

void Save(const BoundProgram& p, const std::filesystem::path& path) {
  absl::Status ok;
  {
    const nb::gil_scoped_release release;
    ok = WriteProgram(*p.program, path.string());
  }
  if (!ok.ok()) Raise(ok);
}

BoundProgram ParseText(std::string_view text) {
  absl::StatusOr<Program> program;
  {
    const nb::gil_scoped_release release;
    program = FromText(text);
  }
  return Share(std::move(program));
}

std::string WriteText(const BoundProgram& p) {
  const nb::gil_scoped_release release;
  return ToText(*p.program);
}

nb::bytes State(const BoundProgram& p) {
  const std::string bytes = SerializeProgram(*p.program);
  return nb::bytes(bytes.data(), bytes.size());
}

void SetState(BoundProgram& p, const nb::bytes& bytes) {
  new (&p) BoundProgram(Share(ReadProgramBytes(
      {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()})));
}

std::vector<Diagnostic> Verify(
    const BoundProgram& p, const std::optional<std::string>& target,
    const std::optional<std::vector<std::string>>& layers) {
  VerifyOptions options;
  if (layers) {
    options.layers = 0;
    for (const std::string& name : *layers) {
      const auto layer = FromName<Layer>(kLayerNames, name);
      if (!layer) {
        RaiseValueError(absl::StrCat("there is no layer \"", name,
                                     "\"; there are device, backend, api and "
                                     "lint"));
      }
      options.layers |= 1u << static_cast<unsigned>(*layer);
    }
  }
  const Hardware& hardware =
      HardwareFor(target ? ToTarget(*target) : p.program->target);
  const nb::gil_scoped_release release;
  return VerifyProgram(*p.program, hardware, options);
}

// name -> (shape, dtype) of the HBM tensors that are `kind` or inout.
nb::dict Tensors(const BoundProgram& p, TensorKind kind) {
  nb::dict tensors;
  for (const Tensor& t : p.program->tensors) {
    if (t.kind != kind && t.kind != TensorKind::kInOut) continue;
    tensors[nb::str(t.name.c_str(), t.name.size())] =
        nb::make_tuple(FromShape(t.shape), FromDtype(t.dtype));
  }
  return tensors;
}

}  // namespace

void BindProgram(nb::module_& m) {
  nb::class_<BoundProgram>(
      m, "Program",
      "A program, immutable. ProgramBuilder.build() makes one, so do load() "
      "and from_text(). It can be pickled.")
      .def_static("load", &Load, nb::arg("path"),
                  nb::sig("def load(path: str | os.PathLike[str]) -> Program"),
                  "Reads a program file. Fault: malformed, unsupported (a NEFF "
                  "file) or input.")
      .def("save", &Save, nb::arg("path"),
           nb::sig("def save(self, path: str | os.PathLike[str]) -> None"),
           "Writes a program file, whole or not at all.")
      .def_static("from_text", &ParseText, nb::arg("text"),
                  "Reads the text form. Fault: malformed.")
      .def("to_text", &WriteText, "The text form, which holds all of it.")
      .def("verify", &Verify, nb::arg("target") = nb::none(),
           nb::arg("layers") = nb::none(),
           "Every finding, errors and warnings, on `target` (the program's "
           "own unless given). `layers`: names out of device, backend, api, "
           "lint; the first two unless given.")
      .def("memory_map", &MapMemory, nb::arg("target") = nb::none(),
           "Which tiles are live where and when in SBUF and PSUM, against the "
           "limits of `target` (the program's own unless given).")
      .def_prop_ro("name",
                   [](const BoundProgram& p) { return p.program->name; })
      .def_prop_ro(
          "target",
          [](const BoundProgram& p) {
            return std::string(Name(p.program->target));
          },
          "\"trn1\", \"trn2\" or \"trn3\".")
      .def_prop_ro(
          "cores",
          [](const BoundProgram& p) { return p.program->cores.size(); })
      .def_prop_ro(
          "num_instructions",
          [](const BoundProgram& p) { return p.program->num_instructions(); })
      .def_prop_ro(
          "inputs",
          [](const BoundProgram& p) { return Tensors(p, TensorKind::kInput); },
          nb::sig("def inputs(self) -> dict[str, tuple["
                  "tuple[int, ...], trnemu._dtype.Dtype]]"),
          "name -> (shape, dtype), inout tensors too.")
      .def_prop_ro(
          "outputs",
          [](const BoundProgram& p) { return Tensors(p, TensorKind::kOutput); },
          nb::sig("def outputs(self) -> dict[str, tuple["
                  "tuple[int, ...], trnemu._dtype.Dtype]]"),
          "name -> (shape, dtype), inout tensors too.")
      .def("__repr__",
           [](const BoundProgram& p) {
             return absl::StrCat("<Program ", p.program->name, " for ",
                                 std::string(Name(p.program->target)), ", ",
                                 p.program->num_instructions(),
                                 " instructions>");
           })
      .def("__getstate__", &State)
      .def("__setstate__", &SetState);
}

}  // namespace trnemu::bindings

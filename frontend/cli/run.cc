// trnemu run: execute a program.
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "core/device.h"
#include "core/envelope.h"
#include "core/profile/report.h"
#include "frontend/cli/common.h"
#include "frontend/cli/debug_options.h"
#include "frontend/cli/debug_run.h"
#include "frontend/cli/expect.h"
#include "frontend/cli/interrupt.h"
#include "frontend/cli/outputs.h"
#include "frontend/cli/progress.h"
#include "frontend/cli/run_options.h"
#include "frontend/cli/run_report.h"
#include "frontend/cli/system_run.h"
#include "frontend/cli/tensors.h"
#include "frontend/cli/verbs.h"
#include "frontend/cli/wait_graph.h"
#include "isa/container.h"
#include "isa/verify.h"

namespace trnemu::cli {
namespace {

// The file of --log.
class LogFile {
 public:
  absl::Status Open(const std::string& path) {
    path_ = path;
    file_.reset(std::fopen(path.c_str(), "w"));
    return file_ ? absl::OkStatus() : Unwritable();
  }
  void Line(const std::string& line) {
    std::fwrite(line.data(), 1, line.size(), file_.get());
    std::fputc('\n', file_.get());
  }
  absl::Status Close() {
    if (!file_) return absl::OkStatus();
    const bool bad = std::ferror(file_.get()) != 0;
    return std::fclose(file_.release()) == 0 && !bad ? absl::OkStatus()
                                                     : Unwritable();
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  absl::Status Unwritable() const {
    return ToStatus(
        InputError("unwritable", Cat("cannot write the log ", path_)));
  }
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

// One use of the verb, step by step. Every step returns an exit code, 0 to go
// on.
class RunVerb {
 public:
  explicit RunVerb(const RunArgs& args) : args_(args) {}

  int Do() {
    for (const auto step :
         {&RunVerb::ReadOptions, &RunVerb::Load, &RunVerb::ReadArrays,
          &RunVerb::OpenFiles, &RunVerb::Execute, &RunVerb::WriteFiles}) {
      if (const int code = (this->*step)(); code != kSuccess) return code;
    }
    return Report();
  }

 private:
  int ReadOptions();
  int Load();
  int ReadArrays();
  int OpenFiles();
  int Execute();
  int WriteFiles();
  absl::Status WriteTrace();
  int Report();

  int FailWith(const absl::Status& status) {
    progress_.Stop();
    Json more = Json::object();
    if (!debug_events_.is_null()) more["debug"] = debug_events_;
    return Fail("run", args_.json, status, more);
  }
  int FailLoad(const absl::Status& status);
  int StopInterrupted(const absl::Status& status);
  absl::StatusOr<RunResult> RunInEnvelope(
      const std::function<absl::StatusOr<RunResult>(const RunOptions&)>& run);

  const RunArgs& args_;
  Progress progress_{Cat("loading ", args_.program)};
  RunOptions options_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Executable> executable_;
  std::vector<NamedArray> inputs_, expected_;
  std::optional<InterruptScope> interrupt_scope_;
  OutputFiles outputs_;
  LogFile log_;
  Json debug_events_;                   // of breaks and watches, with --json
  std::shared_ptr<Timeline> timeline_;  // with --trace
  RunResult result_;
  std::string envelope_text_, envelope_json_;
};

int RunVerb::ReadOptions() {
  absl::StatusOr<RunOptions> options = MakeRunOptions(args_);
  if (!options.ok()) return FailWith(options.status());
  options_ = *std::move(options);
  const absl::Status files =
      CheckPaths(FilesRead(args_), {{"--log", args_.log},
                                    {"--trace", args_.trace},
                                    {"--wait-graph", args_.wait_graph}});
  return files.ok() ? kSuccess : FailWith(files);
}

int RunVerb::Load() {
  absl::StatusOr<Program> program = ReadProgram(args_.program);
  if (!program.ok()) return FailWith(program.status());
  program_ = std::make_shared<const Program>(*std::move(program));
  auto device = MakeDevice(*program_, args_, options_);
  if (!device.ok()) return FailWith(device.status());
  device_ = *std::move(device);
  auto executable = device_->Load(program_, options_.allow);
  if (!executable.ok()) return FailLoad(executable.status());
  executable_ = *std::move(executable);
  return kSuccess;
}

// A program that breaks several rules: the first, then what else is wrong.
int RunVerb::FailLoad(const absl::Status& status) {
  std::vector<Diagnostic> errors = {DiagnosticOf(status)};
  for (Diagnostic& d : VerifyProgram(*program_, device_->hardware())) {
    const bool same = d.id == errors[0].id && d.message == errors[0].message;
    if (d.severity == Severity::kWarning || same ||
        IsAllowed(d, options_.allow)) {
      continue;
    }
    errors.push_back(std::move(d));
  }
  progress_.Stop();
  return Fail("run", args_.json, errors);
}

int RunVerb::ReadArrays() {
  std::vector<Diagnostic> problems;
  inputs_ = ReadInputs(*program_, args_.inputs, options_.values, problems);
  expected_ = ReadExpected(*program_, args_.expects, problems);
  if (!problems.empty()) {
    progress_.Stop();
    return Fail("run", args_.json, problems);
  }
  return kSuccess;
}

int RunVerb::OpenFiles() {
  // From here on there are temporary files to remove.
  interrupt_scope_.emplace();
  absl::Status status;
  if (!args_.output_dir.empty()) {
    status = outputs_.Open(args_.output_dir, OutputsOf(*program_));
  }
  if (status.ok() && !args_.log.empty()) {
    status = log_.Open(args_.log);
    options_.log = [this](const std::string& line) { log_.Line(line); };
  }
  return status.ok() ? kSuccess : FailWith(status);
}

int RunVerb::Execute() {
  Inputs inputs = AsInputs(inputs_);
  progress_.Say(
      Cat("running ", args_.program, " on ", device_->hardware().name));
  options_.interrupted = Interrupted;
  if (!args_.trace.empty()) {
    timeline_ = std::make_shared<Timeline>();
    options_.timeline = timeline_.get();
  }
  const auto run = [&](const RunOptions& options) {
    return executable_->Run(inputs, options);
  };
  absl::StatusOr<RunResult> result;
  if (args_.envelope) {
    result = RunInEnvelope(run);
  } else if (args_.explore) {
    result = RunExplore(args_, *executable_, inputs, options_, progress_);
  } else if (WantsDebugger(args_)) {
    result = RunDebugged(args_, *executable_, inputs, options_, progress_,
                         debug_events_);
  } else {
    result = run(options_);
  }
  if (!result.ok() && Interrupted()) return StopInterrupted(result.status());
  if (!result.ok()) {
    const absl::Status drawn =
        WriteWaitGraph(args_.wait_graph, result.status());
    return FailWith(drawn.ok() ? result.status() : drawn);
  }
  result_ = *std::move(result);
  return kSuccess;
}

absl::StatusOr<RunResult> RunVerb::RunInEnvelope(
    const std::function<absl::StatusOr<RunResult>(const RunOptions&)>& run) {
  absl::StatusOr<EnvelopeResult> envelope =
      RunEnvelope(run, options_, *args_.envelope, args_.envelope_seed);
  if (!envelope.ok()) return envelope.status();
  envelope_text_ = EnvelopeText(*envelope);
  envelope_json_ = EnvelopeJson(*envelope);
  return std::move(envelope->base);
}

int RunVerb::StopInterrupted(const absl::Status& status) {
  progress_.Stop();
  return ReportInterrupted(status, args_.json);
}

int RunVerb::WriteFiles() {
  absl::Status status = log_.Close();
  if (status.ok() && !args_.output_dir.empty()) {
    status = outputs_.Commit(result_.outputs);
  }
  if (status.ok() && timeline_ != nullptr) status = WriteTrace();
  progress_.Stop();
  return status.ok() ? kSuccess : FailWith(status);
}

absl::Status RunVerb::WriteTrace() {
  progress_.Say("writing the trace");
  return WriteText(args_.trace,
                   ProfileTrace(MakeProfileReport(
                       program_, {&device_->hardware(), [](const Hardware*) {}},
                       timeline_, result_.profile.end, program_->name)));
}

int RunVerb::Report() {
  RunReport report;
  report.explored = args_.explore.value_or(0);
  report.debug_events = std::move(debug_events_);
  report.program = args_.program;
  report.hardware = args_.hardware;
  if (!args_.hardware.empty()) {
    report.hardware_changes = ChangesFromStock(device_->hardware());
  }
  report.result = &result_;
  report.values = options_.values;
  report.log = args_.log;
  report.trace = args_.trace;
  report.envelope_text = envelope_text_;
  report.envelope_json = envelope_json_;
  for (const Tensor* tensor : OutputsOf(*program_)) {
    report.outputs.push_back({tensor, outputs_.PathOf(tensor->name)});
  }
  for (const NamedArray& want : expected_) {
    report.comparisons.push_back(Compare(result_.outputs.at(want.tensor->name),
                                         want, args_.rtol, args_.atol));
  }
  if (args_.json) {
    PrintJson(ToJson(report));
  } else {
    PrintText(report);
  }
  return report.ok() ? kSuccess : kFault;
}

}  // namespace

void AddRun(CLI::App& app, Action& action) {
  CLI::App* run = app.add_subcommand("run", "Execute a program");
  auto args = std::make_shared<RunArgs>();
  AddRunOptions(*run, *args);
  run->footer(
      "Examples:\n"
      "  trnemu run k.trn --input x=x.npy --output-dir out\n"
      "  trnemu run k.trn --input x=x.npy --expect y=want.npy --rtol 1e-3\n"
      "  trnemu run k.trn --input x=x.npy --target trn1 --json\n"
      "  trnemu run k.trn --input x=x.npy --schedule 7    another legal order\n"
      "  trnemu run k.trn --input x=x.npy --explore 100   a hundred of them\n"
      "  trnemu run k.trn --input x=x.npy --stop-at-nan\n"
      "  trnemu run k.trn --input x=x.npy --break k.py:12 --dump t[0:2]\n"
      "  trnemu run k.trn --input x=x.npy --watch sbuf:3:4096+4\n"
      "  trnemu run k.trn --values off --hardware what_if.textproto\n"
      "  trnemu run k.trn --input x=x.npy --envelope 8    how sure is each "
      "output\n"
      "  trnemu run k.trn --system trn2.48xlarge --ranks 4 \\\n"
      "      --input 'x=in/rank{rank}/x.npy' --output-dir out    4 ranks\n"
      "  trnemu run a.trn b.trn --system trn2.48xlarge --input 0:x=x.npy\n"
      "\n"
      "bfloat16 and fp8 arrays are .npy files of V2/uint16 and V1/uint8\n"
      "elements; view them as the ml_dtypes type after numpy.load.\n"
      "\n"
      "Exit codes: 0 success, 1 a fault in the program or a mismatch with\n"
      "--expect, 2 usage or inputs, 3 unsupported, 4 malformed file,\n"
      "70 a bug in trnemu, 130 interrupted.");
  run->callback([args, &action] {
    action = [args] {
      return args->system.name.empty() ? RunVerb(*args).Do()
                                       : RunOnSystem(*args);
    };
  });
}

}  // namespace trnemu::cli

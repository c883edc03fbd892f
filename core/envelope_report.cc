// An envelope as text and as JSON (docs/envelope.md).
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/envelope.h"

namespace trnemu {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string ChoicesText(const EnvelopeChoices& choices) {
  std::string text;
  for (const auto& [key, value] : choices) {
    absl::StrAppend(&text, text.empty() ? "" : ",", key, "=", value);
  }
  return text;
}

std::vector<int64_t> Coordinates(const std::vector<int64_t>& shape,
                                 int64_t element) {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    at[d] = element % shape[d];
    element /= shape[d];
  }
  return at;
}

int64_t ElementsOf(const EnvelopeOutput& output) {
  int64_t n = 1;
  for (int64_t size : output.shape) n *= size;
  return n;
}

// JSON has no infinity.
Json Number(double value) {
  return std::isfinite(value) ? Json(value)
         : std::isnan(value)  ? Json("nan")
         : value > 0          ? Json("inf")
                              : Json("-inf");
}

void AppendOutput(const EnvelopeResult& result, const EnvelopeOutput& o,
                  std::string& text) {
  const EnvelopeDistance& s = o.spread;
  absl::StrAppendFormat(&text, "\n  %s %s %s, rms %.4g\n", o.name,
                        DescribeShape(o.shape), std::string(Name(o.dtype)),
                        o.rms);
  if (o.run < 0) {
    absl::StrAppend(&text, "    spread  0: the same ",
                    s.different == 0 ? "bits" : "values (zeros of both signs)",
                    " under every choice");
    return;
  }
  std::string at;
  for (int64_t i : Coordinates(o.shape, s.element)) {
    absl::StrAppend(&at, at.empty() ? "" : ", ", i);
  }
  absl::StrAppendFormat(
      &text,
      "    spread  %.3g, that is %.3g of rms, at [%s]: %.9g became %.9g\n"
      "            %.0f ulp at most; %d of %d elements differ",
      s.max_abs, o.relative(s.max_abs), at, s.base, s.other, s.max_ulp,
      s.different, ElementsOf(o));
  if (s.not_finite > 0) {
    absl::StrAppendFormat(&text, "; %d are finite in one run alone",
                          s.not_finite);
  }
  absl::StrAppendFormat(
      &text, "\n    with    %s",
      ChoicesText(result.runs[static_cast<size_t>(o.run)].choices));
  if (o.causes.empty()) {
    absl::StrAppend(&text,
                    "\n    cause   no choice alone: it takes several together");
    return;
  }
  absl::StrAppendFormat(&text, "\n    cause   %s: %.3g of rms alone",
                        o.causes[0].first, o.relative(o.causes[0].second));
  for (size_t i = 1; i < o.causes.size(); ++i) {
    absl::StrAppendFormat(&text, "%s%s %.3g", i == 1 ? "; then " : ", ",
                          o.causes[i].first, o.relative(o.causes[i].second));
  }
}

Json DistanceJson(const EnvelopeOutput& o, const EnvelopeDistance& d) {
  Json json;
  json["max_abs"] = Number(d.max_abs);
  json["relative_to_rms"] = Number(o.relative(d.max_abs));
  json["max_ulp"] = d.max_ulp;
  json["different"] = d.different;
  json["not_finite"] = d.not_finite;
  return json;
}

}  // namespace

std::string EnvelopeText(const EnvelopeResult& result) {
  const auto singles =
      std::count_if(result.runs.begin(), result.runs.end(),
                    [](const EnvelopeRun& r) { return r.single; });
  std::string text =
      absl::StrCat("envelope      ", singles, " choices alone, ",
                   static_cast<int64_t>(result.runs.size()) - singles,
                   " random combinations");
  for (const EnvelopeOutput& output : result.outputs) {
    AppendOutput(result, output, text);
  }
  return text;
}

std::string EnvelopeJson(const EnvelopeResult& result) {
  Json json;
  json["schema"] = kSchema;
  json["outputs"] = Json::array();
  for (const EnvelopeOutput& o : result.outputs) {
    Json entry;
    entry["name"] = o.name;
    entry["dtype"] = std::string(Name(o.dtype));
    entry["shape"] = o.shape;
    entry["rms"] = o.rms;
    entry.update(DistanceJson(o, o.spread));
    entry["where"] = o.run < 0 ? Json(nullptr)
                               : Json(Coordinates(o.shape, o.spread.element));
    entry["base"] = o.run < 0 ? Json(nullptr) : Number(o.spread.base);
    entry["other"] = o.run < 0 ? Json(nullptr) : Number(o.spread.other);
    entry["run"] = o.run < 0 ? Json(nullptr) : Json(o.run);
    entry["cause"] = o.causes.empty() ? Json(nullptr) : Json(o.causes[0].first);
    entry["causes"] = Json::array();
    for (const auto& [key, distance] : o.causes) {
      entry["causes"].push_back(
          {{"key", key},
           {"max_abs", Number(distance)},
           {"relative_to_rms", Number(o.relative(distance))}});
    }
    json["outputs"].push_back(std::move(entry));
  }
  json["runs"] = Json::array();
  for (const EnvelopeRun& run : result.runs) {
    Json entry;
    entry["single"] = run.single;
    entry["numerics"] = Json::object();
    for (const auto& [key, value] : run.choices) entry["numerics"][key] = value;
    entry["outputs"] = Json::array();
    for (size_t o = 0; o < run.outputs.size(); ++o) {
      entry["outputs"].push_back(
          DistanceJson(result.outputs[o], run.outputs[o]));
    }
    json["runs"].push_back(std::move(entry));
  }
  return json.dump();
}

}  // namespace trnemu

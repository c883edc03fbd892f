#include "isa/call_form.h"

#include <unordered_map>

#include "isa/builder.h"

namespace trnemu {
namespace {

CallForm Find(const OperationInfo& operation, size_t number) {
  CallForm form;
  form.number = number;
  for (const ParameterSpec& p : operation.parameters) {
    form.defaults.push_back(DefaultValue(p));
  }
  form.engine = ParameterIndex(operation, "engine");
  form.queues = ParameterIndex(operation, "queues");
  form.dge_mode = ParameterIndex(operation, "dge_mode");
  form.stream = ParameterIndex(operation, "stream");
  return form;
}

}  // namespace

const CallForm& FormOf(const OperationInfo& operation) {
  static const auto* const forms = [] {
    auto* all = new std::unordered_map<const OperationInfo*, CallForm>;
    size_t number = 0;
    for (const OperationInfo* o : Operations()) {
      all->emplace(o, Find(*o, number++));
    }
    return all;
  }();
  return forms->at(&operation);
}

}  // namespace trnemu

#include "rules/warm/mother.h"

#include <algorithm>
#include <array>

namespace trainyard::warm {

namespace {

constexpr std::string_view kSwitch = "TRAINYARD_WARM";

/// These differ between any two jobs. A mother rewrites what modules keep of HOME; of the others modules keep
/// nothing that a program could not also get at its start.
constexpr std::array<std::string_view, 7> kOfEachJob = {
    "HOME", "HOSTNAME", "PATH", "VIRTUAL_ENV", "TF_CONFIG", "TRAINYARD_WARM", "CLUSTER_SPEC"};

constexpr std::array<std::string_view, 32> kPrefixes = {
    "ABSL_",   "ARROW_",    "BLIS_",  "CUBLAS",   "CUDA_",  "CUDNN",    "DNNL_",   "GLIBC_",
    "GOMP_",   "GOTO_",     "GRPC_",  "JAX_",     "KERAS_", "KMP_",     "LC_",     "LD_",
    "LIBC_",   "MALLOC_",   "MKL_",   "NCCL_",    "NPY_",   "NUMEXPR_", "NVIDIA_", "OMP_",
    "ONEDNN_", "OPENBLAS_", "PYTHON", "PYTORCH_", "TF_",    "TORCH",    "TPU_",    "XLA_"};
constexpr std::array<std::string_view, 6> kNames = {
    "CLOUD_ML_LOG_LEVEL", "LANG", "LANGUAGE", "TRAINYARD_LOG_FD", "TRAINYARD_TPU_AS_CPU", "TZ"};

std::optional<std::string_view> Find(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  return found->second;
}

/// The module that an entry of a directory is: "six.py", "_cffi.cpython-311-x86_64-linux-gnu.so", "numpy".
std::string_view ModuleOf(std::string_view entry) { return entry.substr(0, entry.find('.')); }

bool IsOfEachJob(std::string_view name) { return std::ranges::find(kOfEachJob, name) != kOfEachJob.end(); }

void TakeLine(std::string_view line, Mother& mother, bool& ready) {
  ready = line == "ready";
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view kind = line.substr(0, space);
  std::string value(line.substr(space + 1));
  if (kind == "socket")
    mother.socket = std::move(value);
  else if (kind == "module")
    mother.modules.push_back(std::move(value));
  else if (kind == "package")
    mother.packages.push_back(std::move(value));
  else if (kind == "top")
    mother.imported.insert(std::move(value));
  else if (kind == "read")
    mother.read.insert(std::move(value));
  else if (kind == "variable") {
    const std::size_t equals = value.find('=');
    if (equals != std::string::npos) mother.variables[value.substr(0, equals)] = value.substr(equals + 1);
  }
}

}  // namespace

std::optional<Mother> ParseMother(std::string_view text) {
  Mother mother;
  bool ready = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    TakeLine(text.substr(0, text[end] == '\n' ? end : end + 1), mother, ready);
    text.remove_prefix(end + 1);
  }
  if (!ready || mother.socket.empty() || mother.socket.contains('/')) return std::nullopt;
  return mother;
}

bool IsReadByLibraries(std::string_view name) {
  return std::ranges::any_of(kPrefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(kNames, name) != kNames.end();
}

std::string WhyFresh(const Start& start, const Mother& mother) {
  if (Find(start.variables, kSwitch) == "0") return "the job wants it";
  std::set<std::string, std::less<>> compared = mother.read;
  for (const Variables* variables : {&start.variables, &mother.variables}) {
    for (const auto& [name, value] : *variables) {
      if (IsReadByLibraries(name)) compared.insert(name);
    }
  }
  for (const std::string& name : compared) {
    if (!IsOfEachJob(name) && Find(start.variables, name) != Find(mother.variables, name))
      return "modules read the variable " + name + " while they are imported";
  }
  for (const std::string& entry : start.own) {
    const std::string_view module = ModuleOf(entry);
    if (mother.imported.contains(module))
      return "the job has a module " + std::string(module) + " of its own";
  }
  return {};
}

std::string StartLine(const Mother& mother) {
  constexpr std::size_t kShownMax = 6;
  const std::vector<std::string>& packages = mother.packages;
  std::string names;
  for (std::size_t i = 0; i < std::min(packages.size(), kShownMax); ++i)
    names += (names.empty() ? "" : ", ") + packages[i];
  if (packages.size() > kShownMax) names += " and " + std::to_string(packages.size() - kShownMax) + " more";
  if (names.empty()) names = "modules of Python";
  return "Starting in a warm interpreter (" + names + " were already imported).";
}

}  // namespace trainyard::warm

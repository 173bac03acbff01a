#include "rules/diagnosis/failed_import.h"

#include "rules/diagnosis/classify.h"

namespace trainyard::diagnosis {

std::optional<FailedImport> FindFailedImport(std::string_view traceback) {
  constexpr std::string_view kException = "\nModuleNotFoundError: No module named '";
  const std::size_t exception = traceback.rfind(kException);
  const std::size_t frame = traceback.substr(0, exception).rfind("\n  File \"");
  if (exception == std::string_view::npos || frame == std::string_view::npos) return std::nullopt;
  if (traceback.find("\nTraceback (most recent call last):", exception) != std::string_view::npos)
    return std::nullopt;  // another exception followed
  const auto module = Match("named '*'", traceback.substr(exception));
  const auto file = Match("File \"*\", line ", traceback.substr(frame, exception - frame));
  if (!module || !file) return std::nullopt;
  return FailedImport{.module = module->front().substr(0, module->front().find('.')), .file = file->front()};
}

}  // namespace trainyard::diagnosis

#include "cli/storage/copy_plan.h"

#include <algorithm>

namespace trainyard::cli {

std::string CopyTarget(const CopySource& source, std::string_view target, bool into) {
  while (target.ends_with('/') && target.size() > 1) target.remove_suffix(1);
  std::string out(target);
  if (out.ends_with('/')) out.pop_back();  // "/" itself
  std::string separator = target.empty() ? "" : "/";
  if (!into) return source.folder.empty() ? std::string(target) : out + separator + source.relative;
  if (!source.folder.empty()) return out + separator + source.folder + "/" + source.relative;
  return out + separator + source.relative;
}

bool StaysBelow(std::string_view relative) {
  for (std::size_t start = 0; start <= relative.size();) {
    std::size_t end = std::min(relative.find('/', start), relative.size());
    std::string_view part = relative.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

}  // namespace trainyard::cli

#include "net/front/ca_bundle.h"

#include "base/async/file.h"

namespace trainyard::front {

Status MakeCaBundle(const std::vector<std::string>& system, const std::filesystem::path& own,
                    const std::filesystem::path& bundle) {
  std::string text;
  for (const std::string& place : system) {
    Result<std::string> read = ReadFile(place);
    if (!read || read->empty()) continue;
    text = *std::move(read);
    break;
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  TY_TRY(const std::string authority, ReadFile(own));
  text += authority;
  if (const Result<std::string> there = ReadFile(bundle); there && *there == text) return {};
  return ReplaceFile(bundle, text);
}

}  // namespace trainyard::front

#include "api/ml/attachment.h"

#include <algorithm>

#include "base/ascii.h"

namespace trainyard::api {

std::string SafeFileName(std::string_view text) {
  std::string name(text.substr(0, kFileNameBytesMax));
  for (char& c : name) {
    const char lower = ToLower(c);
    const bool is_word = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
    const bool stays = is_word || c == '.' || c == '-' || c == '_';
    if (!stays) c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(name.begin(), '_');
  name.resize(std::min(name.size(), kFileNameBytesMax));
  return name;
}

void SetAttachment(std::string_view content_type, std::string_view name, http::Headers& headers) {
  http::ConfineContent(headers);
  headers.Set("Content-Type", std::string(content_type));
  headers.Set("Content-Disposition", "attachment; filename=\"" + SafeFileName(name) + "\"");
}

}  // namespace trainyard::api

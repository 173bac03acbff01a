#include "studies/study_name.h"

#include <charconv>

namespace trainyard::studies {

std::int64_t ParseId(std::string_view text) noexcept {
  std::int64_t id = 0;
  if (text.empty() || text.front() < '1' || text.front() > '9') return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? id : 0;
}

}  // namespace trainyard::studies

#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::studies {

/// projects/PROJECT/locations/LOCATION/studies/STUDY_ID.
struct StudyName {
  std::string project;
  std::string location;
  std::string study_id;

  [[nodiscard]] std::string ToString() const {
    return "projects/" + project + "/locations/" + location + "/studies/" + study_id;
  }
  friend bool operator==(const StudyName&, const StudyName&) = default;
};

/// STUDY/trials/ID.
struct TrialName {
  StudyName study;
  std::int64_t id = 0;  ///< from 1; 0: not a number, so there is no such trial

  [[nodiscard]] std::string ToString() const { return study.ToString() + "/trials/" + std::to_string(id); }
};

/// projects/PROJECT/locations/LOCATION/operations/ID.
struct OperationName {
  std::string project;
  std::string location;
  std::int64_t id = 0;  ///< from 1; 0: no operation

  [[nodiscard]] std::string ToString() const {
    return "projects/" + project + "/locations/" + location + "/operations/" + std::to_string(id);
  }
};

/// A positive number without sign or leading zeros, as the service prints ids; otherwise 0.
[[nodiscard]] inline std::int64_t ParseId(std::string_view text) noexcept {
  std::int64_t id = 0;
  if (text.empty() || text.front() < '1' || text.front() > '9') return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? id : 0;
}

}  // namespace trainyard::studies

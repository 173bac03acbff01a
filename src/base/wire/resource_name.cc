#include "base/wire/resource_name.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/wire/utf8.h"

namespace trainyard::wire {
namespace {

constexpr std::size_t kBucketLengthMin = 3;
constexpr std::size_t kBucketPartLengthMax = 63;
constexpr std::size_t kBucketLengthMax = 222;
constexpr std::size_t kObjectBytesMax = 1024;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(separator)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::unexpected<Error> Refused(std::string message) {
  return std::unexpected(InvalidArgument({}, std::move(message)));
}

}  // namespace

Result<std::string> ParseProjectName(std::string_view name) {
  const auto parts = Split(name, '/');
  if (parts.size() != 2 || parts[0] != "projects" || parts[1].empty()) {
    return std::unexpected(
        InvalidArgument("parent", "The name '" + std::string(name) + "' is not of the form projects/*."));
  }
  return std::string(parts[1]);
}

Result<JobName> JobName::Parse(std::string_view name) {
  const auto parts = Split(name, '/');
  if (parts.size() != 4 || parts[0] != "projects" || parts[1].empty() || parts[2] != "jobs" ||
      parts[3].empty()) {
    return std::unexpected(InvalidArgument(
        "name", "The name '" + std::string(name) + "' is not of the form projects/*/jobs/*."));
  }
  return JobName{.project = std::string(parts[1]), .job_id = std::string(parts[3])};
}

std::string JobName::ToString() const { return "projects/" + project + "/jobs/" + job_id; }

Status ValidateBucketName(std::string_view bucket) {
  const auto allowed = [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '_' || c == '.'; };
  const auto parts = Split(bucket, '.');
  const bool parts_ok = std::ranges::all_of(
      parts, [](std::string_view part) { return !part.empty() && part.size() <= kBucketPartLengthMax; });
  if (bucket.size() < kBucketLengthMin || bucket.size() > kBucketLengthMax || !parts_ok ||
      !std::ranges::all_of(bucket, allowed) || !IsLowerOrDigit(bucket.front()) ||
      !IsLowerOrDigit(bucket.back())) {
    return Refused("Invalid bucket name: '" + std::string(bucket) + "'");
  }
  return {};
}

Status ValidateObjectName(std::string_view object) {
  if (object.empty()) return Refused("Required object name is missing");
  if (object.size() > kObjectBytesMax)
    return Refused("The maximum object length is 1024 characters, but got a name with " +
                   std::to_string(object.size()) + " characters");
  const bool control = object.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
  if (control || object == "." || object == ".." || !IsUtf8(object)) return Refused("Invalid object name");
  return {};
}

Result<ObjectUri> ObjectUri::Parse(std::string_view uri) {
  constexpr std::string_view kScheme = "gs://";
  if (!uri.starts_with(kScheme))
    return Refused("'" + std::string(uri) + "' is not a Cloud Storage path (gs://bucket/object)");
  const std::string_view rest = uri.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  ObjectUri result{
      .bucket = std::string(rest.substr(0, slash)),
      .object = slash == std::string_view::npos ? std::string() : std::string(rest.substr(slash + 1))};
  TY_RETURN_IF_ERROR(ValidateBucketName(result.bucket));
  if (!result.object.empty()) TY_RETURN_IF_ERROR(ValidateObjectName(result.object));
  return result;
}

std::string ObjectUri::ToString() const { return "gs://" + bucket + (object.empty() ? "" : "/" + object); }

}  // namespace trainyard::wire

#include <algorithm>

#include "base/wire/json.h"
#include "rules/cluster/role.h"
#include "rules/cluster/scale_tier.h"
#include "rules/jobs/job_id.h"
#include "rules/jobs/prepare.h"
#include "rules/validation/rules.h"

namespace trainyard::jobs::rules {
namespace {

constexpr std::size_t kLabelsMax = 64;
constexpr std::ptrdiff_t kLabelLengthMax = 63;
constexpr std::ptrdiff_t kDisplayNameLengthMax = 128;

/// Letters of other scripts are allowed, in upper and lower case.
bool IsLowerLetter(unsigned char c) { return ('a' <= c && c <= 'z') || c >= 0x80; }

/// The number of characters of a UTF-8 text.
std::ptrdiff_t LengthOf(const std::string& text) {
  const auto is_continuation = [](unsigned char c) { return (c & 0xC0U) == 0x80U; };
  return std::ranges::count_if(text, [&](unsigned char c) { return !is_continuation(c); });
}

bool IsLabelText(const std::string& text) {
  return LengthOf(text) <= kLabelLengthMax && std::ranges::all_of(text, [](unsigned char c) {
           return IsLowerLetter(c) || ('0' <= c && c <= '9') || c == '_' || c == '-';
         });
}

/// Linux limits a variable to 128 KiB, its name included (MAX_ARG_STRLEN).
constexpr std::size_t kVariableBytesMax = 128 * 1024;
/// The part of TF_CONFIG that is neither job nor hosts: keys, task, project.
constexpr std::size_t kFrameBytesMax = 1024;
/// `"cmle-training-worker-0123456789-999:65535", ` and a few bytes more.
constexpr std::size_t kHostBytesMax = 64;
/// An upper limit for how much longer a message becomes as JSON that is quoted once more; names of fields and
/// enumerators add most.
constexpr std::size_t kJsonGrowthMax = 24;

/// TF_CONFIG holds the job as JSON; for containers, as a JSON string of it.
std::size_t QuotedBytes(const std::string& json) {
  return json.size() +
         static_cast<std::size_t>(std::ranges::count_if(json, [](char c) { return c == '"' || c == '\\'; }));
}

}  // namespace

Status JobIdForm(const Job& job, const ValidationContext&) {
  TY_RETURN_IF_ERROR(JobId::Parse(job.job_id()));
  return {};
}

Status IsTrainingJob(const Job& job, const ValidationContext&) {
  if (job.has_prediction_input()) {
    return Invalid("job.prediction_input",
                   "This server runs training jobs only; batch prediction is not supported.");
  }
  if (!job.has_training_input()) return Invalid("job.training_input", "This field is required.");
  return {};
}

Status Labels(const Job& job, const ValidationContext&) {
  constexpr std::string_view kField = "job.labels";
  if (job.labels().size() > kLabelsMax) {
    return Invalid(kField, "A job cannot have more than " + std::to_string(kLabelsMax) + " labels.");
  }
  const std::string* bad =
      nullptr;  // the map has no order: naming the smallest bad key makes the error deterministic
  for (const auto& [key, value] : job.labels()) {
    const bool good = !key.empty() && IsLowerLetter(static_cast<unsigned char>(key.front())) &&
                      IsLabelText(key) && IsLabelText(value);
    if (!good && (bad == nullptr || key < *bad)) bad = &key;
  }
  if (bad == nullptr) return {};
  return Invalid(
      kField,
      "The label '" + *bad +
          "' is not valid. Keys and values can have up to 63 lowercase letters, numbers, hyphens (-) and "
          "underscores (_). Keys must start with a lowercase letter. International letters are allowed.");
}

Status DisplayName(const Job& job, const ValidationContext&) {
  if (LengthOf(job.display_name()) <= kDisplayNameLengthMax) return {};
  return Invalid("job.display_name",
                 "A display name can have at most " + std::to_string(kDisplayNameLengthMax) + " characters.");
}

Status Size(const Job& job, const ValidationContext&) {
  const ml::v1::TrainingInput& input = job.training_input();
  const auto replicas = static_cast<std::size_t>(cluster::kReplicasMax);
  if (input.ByteSizeLong() * kJsonGrowthMax + kFrameBytesMax + replicas * kHostBytesMax < kVariableBytesMax)
    return {};
  const auto groups = cluster::Groups(input);
  if (!groups) return {};
  std::size_t hosts = 0;
  for (const cluster::ReplicaGroup& group : *groups) hosts += static_cast<std::size_t>(group.count);
  const std::size_t bytes = QuotedBytes(wire::PrintJsonProtoNames(WithoutOwnFields(input))) + kFrameBytesMax +
                            hosts * kHostBytesMax;
  if (bytes <= kVariableBytesMax) return {};
  return Invalid("job.training_input",
                 "The job is too large: TF_CONFIG, which has all of its fields, would have " +
                     std::to_string(bytes) + " bytes, at most " + std::to_string(kVariableBytesMax) + ".");
}

}  // namespace trainyard::jobs::rules

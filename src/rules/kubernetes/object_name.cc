#include "rules/kubernetes/object_name.h"

#include "base/number.h"

namespace trainyard::kubernetes {

namespace {

using placement::TakeNumber;
using placement::TakePrefix;

std::string NamePrefix(std::string_view installation) { return "ty-" + std::string(installation) + "-"; }

/// Reads what GangLabel prints, and removes it from the text.
bool TakeSubmission(std::string_view& text, Submission& found) {
  return TakeNumber(text, found.gang.job_uid) && TakePrefix(text, "-") &&
         TakeNumber(text, found.gang.try_number) && TakePrefix(text, "-") && TakeNumber(text, found.number);
}

}  // namespace

std::string GangLabel(const Submission& submission) {
  return std::to_string(submission.gang.job_uid) + "-" + std::to_string(submission.gang.try_number) + "-" +
         std::to_string(submission.number);
}

std::string SecretName(std::string_view installation, const Submission& submission) {
  return NamePrefix(installation) + GangLabel(submission);
}

std::string PodName(std::string_view installation, const Submission& submission, int slot) {
  return SecretName(installation, submission) + "-" + std::to_string(slot);
}

std::optional<SlotName> ParsePodName(std::string_view installation, std::string_view name) {
  std::string_view rest = name;
  SlotName found;
  if (!TakePrefix(rest, NamePrefix(installation)) || !TakeSubmission(rest, found.submission) ||
      !TakePrefix(rest, "-"))
    return std::nullopt;
  found.slot = WholeNumber<int>(rest).value_or(-1);
  // Another spelling of the numbers ("017") is the name of another pod.
  const bool is_ours = found.slot >= 0 && PodName(installation, found.submission, found.slot) == name;
  return is_ours ? std::optional(found) : std::nullopt;
}

std::optional<Submission> ParseSecretName(std::string_view installation, std::string_view name) {
  std::string_view rest = name;
  Submission found;
  if (!TakePrefix(rest, NamePrefix(installation)) || !TakeSubmission(rest, found)) return std::nullopt;
  return SecretName(installation, found) == name ? std::optional(found) : std::nullopt;
}

}  // namespace trainyard::kubernetes

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trainyard::jobs {

/// How this server treats a field of the training resources.
enum class FieldTreatment {
  kHonoured,  ///< works as in Google's service
  kMapped,    ///< does something else for the same purpose; the row describes it
  kNoted,     ///< validated, stored and returned, without effect; the job's log says so
  kOutput,    ///< set by the server; a request's value is ignored
  kRefused,   ///< a job that sets it is rejected
};

/// "honoured" and so on, as in docs/compatibility.md.
[[nodiscard]] std::string_view TreatmentName(FieldTreatment treatment);

struct FieldRow {
  std::string_view field;  ///< message and field with their API names: "TrainingInput.masterType"
  FieldTreatment treatment = FieldTreatment::kHonoured;
  std::string_view meaning;  ///< its meaning in this server
  std::string_view rules;    ///< names of ValidationRules(), separated by spaces, that concern it
  std::string_view source;   ///< where its meaning is documented
};

/// Every field of Job and of all messages below it, in the order of the documentation. A test compares it
/// with the protobuf descriptors and with ValidationRules(). Pure: any thread.
[[nodiscard]] std::span<const FieldRow> CompatibilityTable();

/// The text of docs/compatibility.md: the table, then what is rejected and why. A test compares it with the
/// file.
[[nodiscard]] std::string CompatibilityPage();

/// The parts of the table, each in its own file.
[[nodiscard]] std::span<const FieldRow> InputRows();    ///< Job and TrainingInput
[[nodiscard]] std::span<const FieldRow> ReplicaRows();  ///< the messages below: roles, scheduling, tuning
[[nodiscard]] std::span<const FieldRow> OutputRows();   ///< TrainingOutput and below

}  // namespace trainyard::jobs

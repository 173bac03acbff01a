#include "rules/validation/testing/compatibility.h"

#include <algorithm>
#include <vector>

#include "rules/validation/validate.h"

namespace trainyard::jobs {
namespace {

constexpr std::string_view kHead = R"(# Compatibility

This page lists every field of the training resources of the `ml` v1 API, and what it means on this server. It
is generated from `testing/compatibility*.cc` and `validate.cc` in `src/rules/validation`. A test fails if
this page, the API's messages and the rules do not agree. To generate it again:
`TRAINYARD_UPDATE_DOCS=1 ctest --preset dev -R '^validation$'`.

| word | meaning |
|---|---|
| honoured | does what the original did |
| mapped | does something else for the same purpose; the row says what |
| noted | is validated, stored and returned, but has no effect; the job's log says so |
| output | is set by the server; a request's value is ignored |
| refused | a job that sets it is refused |

The sources are the API description (the discovery document `ml:v1`) and pages of the original's
documentation, by their titles. Where no source was found, [adr/0010](adr/0010-what-the-api-leaves-open.md)
has our decision.
)";

constexpr std::string_view kRefusals = R"(
## What is refused, and why

The server checks a request in the order below and reports the first error, as `google.rpc.Status` with one
`google.rpc.BadRequest.FieldViolation` that names the field in snake_case, like the original. The message is
`Field: FIELD Error: REASON`. Where a name is unknown, the reason has the nearest one, or those that are
accepted.

1. The JSON itself, in the transcoder's words, all violations at once: unknown names, values of the wrong
   type, unknown enum values, a field given twice, malformed text. 400 INVALID_ARGUMENT. A
   number where a field is text is taken as that text, and enum values are read in any case, `-` as `_`.
2. The rules below, in this order. 400 INVALID_ARGUMENT; rules about what this server lacks (`..._here`): 400
   FAILED_PRECONDITION, with a message that says what is missing.
3. Checks that need a lookup: packages that cannot be read (`package_uris`, 400 FAILED_PRECONDITION), a
   runtime version that is not available (`runtime_version`), a size that the machine can never provide, and
   an id that is already used (`job.job_id`, 409 ALREADY_EXISTS).

| rule | refuses | source |
|---|---|---|
)";

/// "TrainingInput" for "TrainingInput.masterType".
std::string_view MessageOf(const FieldRow& row) { return row.field.substr(0, row.field.find('.')); }

std::string RuleList(std::string_view names) {
  std::string text;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    text.append(text.empty() ? "`" : ", `").append(name).append("`");
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  return text;
}

void AppendRow(const FieldRow& row, std::string& page) {
  page.append("| ").append(row.field.substr(MessageOf(row).size() + 1)).append(" | ");
  page.append(TreatmentName(row.treatment)).append(" | ").append(row.meaning).append(" | ");
  page.append(RuleList(row.rules)).append(row.rules.empty() ? "| " : " | ").append(row.source).append(" |\n");
}

}  // namespace

std::string_view TreatmentName(FieldTreatment treatment) {
  switch (treatment) {
    case FieldTreatment::kHonoured: return "honoured";
    case FieldTreatment::kMapped: return "mapped";
    case FieldTreatment::kNoted: return "noted";
    case FieldTreatment::kOutput: return "output";
    case FieldTreatment::kRefused: return "refused";
  }
  return "";
}

std::span<const FieldRow> CompatibilityTable() {
  static const std::vector<FieldRow> kTable = [] {
    std::vector<FieldRow> rows;
    for (const auto part : {InputRows(), ReplicaRows(), OutputRows()}) {
      rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
  }();
  return kTable;
}

std::string CompatibilityPage() {
  std::string page(kHead);
  std::string_view message;
  for (const FieldRow& row : CompatibilityTable()) {
    if (MessageOf(row) != message) {
      message = MessageOf(row);
      page.append("\n## ").append(message).append(
          "\n\n| field | here | what it means | rules | source |\n|---|---|---|---|---|\n");
    }
    AppendRow(row, page);
  }
  page += kRefusals;
  for (const ValidationRule& rule : ValidationRules()) {
    page.append("| `").append(rule.name).append("` | ").append(rule.refuses).append(" | ");
    page.append(rule.source).append(" |\n");
  }
  return page;
}

}  // namespace trainyard::jobs

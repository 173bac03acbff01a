#include "rules/validation/testing/compatibility.h"

#include <algorithm>
#include <vector>

#include "rules/validation/validate.h"

namespace trainyard::jobs {
namespace {

constexpr std::string_view kHead = R"(# Compatibility

Every field of the training resources of the `ml` v1 API, and what it means on this server. Made from the
tables that the server itself uses (`compatibility_*.cc` and `validate.cc` in `src/rules/validation`); a test
fails when this page, the API's messages and the rules do not agree. To write it anew:
`TRAINYARD_UPDATE_DOCS=1 ctest --preset dev -R '^validation$'`.

| word | meaning |
|---|---|
| honoured | does what the original did |
| mapped | does something else that serves the same end; the row says what |
| noted | is validated, kept and shown back, but has no effect; the job's log says so |
| output | is set by the server; what a request says is dropped |
| refused | a job that asks for it is refused |

Sources are the API description (the discovery document `ml:v1`) and pages of the original's documentation, by
their titles. Decisions where nothing was found are in [adr/0010](adr/0010-what-the-api-leaves-open.md).
)";

constexpr std::string_view kRefusals = R"(
## What is refused, and why

A request is looked at in this order; the first thing that is wrong is answered, as `google.rpc.Status` with
one `google.rpc.BadRequest.FieldViolation` that names the field in snake_case, as the original did. The
message is `Field: FIELD Error: REASON`.

1. The JSON itself, by the transcoder's words, all violations at once: unknown names, values of the wrong
   kind, unknown enum values, a field given twice, malformed text. 400 INVALID_ARGUMENT.
2. The rules below, in this order. 400 INVALID_ARGUMENT; rules about what this server lacks (`..._here`): 400
   FAILED_PRECONDITION, with a sentence that says what is missing.
3. What has to be looked up: packages that cannot be read (`package_uris`, 400 FAILED_PRECONDITION), a runtime
   version that cannot be had (`runtime_version`), room that the machine can never have, and an id that is
   taken (`job.job_id`, 409 ALREADY_EXISTS).

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

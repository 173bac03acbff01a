#include "rules/vertex/log_names.h"

#include <algorithm>
#include <charconv>

#include "base/wire/filter_operand.h"
#include "rules/vertex/custom_job.h"
#include "rules/vertex/task_names.h"

namespace trainyard::vertex {
namespace {

enum class Label { kOther, kJob, kTask };

/// A value that a label is compared with, by = or !=.
struct Compared {
  Label label = Label::kOther;
  std::size_t begin = 0;  ///< of the whole comparison, in bytes of the filter
  std::size_t value = 0;  ///< where the value begins
  std::size_t end = 0;    ///< of the value
  bool in_group = false;  ///< of `label=(...)`
  bool is_equal = false;  ///< by =
  std::string text;       ///< the value
};

Label LabelOf(const std::vector<wire::FilterLexer::Text>& path) {
  if (path.size() != 3 || path[0].text != "resource" || path[1].text != "labels") return Label::kOther;
  if (path[2].text == "job_id") return Label::kJob;
  return path[2].text == "task_name" ? Label::kTask : Label::kOther;
}

/// Goes through a filter without building its tree, since only places in its text are of interest.
class FilterReader {
 public:
  explicit FilterReader(std::string_view filter) : lexer_(filter) {}

  /// The comparisons with job ids and task names, in their order; none if the filter cannot be parsed.
  std::vector<Compared> Read() {
    while (!lexer_.AtEnd())
      if (!(group_depth_ > 0 ? ReadInGroup() : ReadTerm())) return {};
    return std::move(found_);
  }

 private:
  bool ReadTerm() {
    if (lexer_.Take('(') || lexer_.Take(')') || TakeWord() || lexer_.TakeMinus()) return true;
    at_ = Compared{.begin = lexer_.at()};
    std::vector<wire::FilterLexer::Text> path;
    if (!lexer_.TakePath(path)) return false;
    wire::Comparator comparator{};
    if (!lexer_.TakeComparator(comparator)) return true;
    at_.is_equal = comparator == wire::Comparator::kEqual;
    if (at_.is_equal || comparator == wire::Comparator::kNotEqual) at_.label = LabelOf(path);
    at_.in_group = lexer_.Take('(');
    if (at_.in_group) group_depth_ = 1;
    return at_.in_group || ReadValue();
  }

  bool ReadInGroup() {
    if (lexer_.Take('(')) {
      ++group_depth_;
    } else if (lexer_.Take(')')) {
      --group_depth_;
    } else if (!TakeWord()) {
      return ReadValue();
    }
    return true;
  }

  bool ReadValue() {
    wire::FilterLexer::Text value;
    if (lexer_.AtEnd()) return false;
    at_.value = lexer_.at();
    if (!lexer_.TakeValue(value)) return false;
    at_.end = lexer_.at();
    at_.text = std::move(value.text);
    if (at_.label != Label::kOther) found_.push_back(at_);
    return true;
  }

  bool TakeWord() {
    return lexer_.TakeKeyword("AND") || lexer_.TakeKeyword("OR") || lexer_.TakeKeyword("NOT");
  }

  wire::FilterLexer lexer_;
  Compared at_;
  int group_depth_ = 0;  ///< open parentheses of `label=(...)`
  std::vector<Compared> found_;
};

/// A job's number has 19 digits.
std::optional<std::int64_t> NumberIn(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number >= kNumberMin ? std::optional(number) : std::nullopt;
}

/// The job's id in place of its number, the replica's name in place of its pool's; nullopt: it stays.
std::optional<std::string> InMlNames(const Compared& compared, std::span<const NumberedJob> jobs) {
  if (compared.label == Label::kTask) {
    std::string name = TaskNameOf(compared.text);
    return name == compared.text ? std::nullopt : std::optional(std::move(name));
  }
  const std::optional<std::int64_t> number = NumberIn(compared.text);
  const auto job =
      std::ranges::find(jobs, number, [](const NumberedJob& one) { return std::optional(one.number); });
  return job == jobs.end() ? std::nullopt : std::optional(job->job_id);
}

}  // namespace

std::vector<std::int64_t> NumbersIn(std::string_view filter) {
  std::vector<std::int64_t> numbers;
  for (const Compared& compared : FilterReader(filter).Read()) {
    const std::optional<std::int64_t> number =
        compared.label == Label::kJob ? NumberIn(compared.text) : std::nullopt;
    const bool is_new = number && std::ranges::find(numbers, *number) == numbers.end();
    if (is_new) numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::string> FilterInMlNames(std::string_view filter, std::span<const NumberedJob> jobs) {
  const std::vector<Compared> all = FilterReader(filter).Read();
  const bool names_jobs = std::ranges::find(all, Label::kJob, &Compared::label) != all.end();
  // With another kind of name for the job, its tasks have that kind of names, too.
  if (names_jobs && jobs.empty()) return std::nullopt;
  std::string named;
  std::size_t copied = 0;
  for (const Compared& compared : all) {
    const std::optional<std::string> name = InMlNames(compared, jobs);
    if (!name) continue;
    // Replicas of jobs of ml v1 have the same names.
    const bool bound = !names_jobs && compared.is_equal && !compared.in_group;
    if (bound) {
      named.append(filter.substr(copied, compared.begin - copied)).append("(");
      copied = compared.begin;
    }
    named.append(filter.substr(copied, compared.value - copied));
    named.append("\"").append(*name).append(bound ? "\" AND resource.labels.job_id=vertex_*)" : "\"");
    copied = compared.end;
  }
  if (copied == 0) return std::nullopt;
  return named.append(filter.substr(copied));
}

void NameForVertex(logging::v2::LogEntry& entry, std::span<const NumberedJob> jobs) {
  auto& labels = *entry.mutable_resource()->mutable_labels();
  const auto job = labels.find("job_id");
  if (job == labels.end()) return;
  const auto numbered = std::ranges::find(jobs, job->second, &NumberedJob::job_id);
  const std::optional<std::int64_t> number =
      numbered == jobs.end() ? NumberOf(job->second) : std::optional(numbered->number);
  if (!number) return;
  job->second = std::to_string(*number);
  const auto task = labels.find("task_name");
  if (task != labels.end()) task->second = PoolTaskName(task->second);
}

}  // namespace trainyard::vertex

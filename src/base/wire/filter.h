#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}
namespace google::protobuf {
class Descriptor;
class Message;
}  // namespace google::protobuf

/// The filter language of Cloud Logging, the list methods of other APIs use a subset. Pure: any thread.
/// Source: docs/spec "Logs" (what gcloud sends); the public page "Logging query language"; AIP-160.
///
/// `a="x"`, `!=`, `<`, `<=`, `>`, `>=`, `:` (has), `=~` and `!~` (RE2), `a=("x" OR "y")`, AND, OR, NOT, `-`,
/// parentheses, `-- comment`, quoted path parts (labels."ml.googleapis.com/task_name"), single words and
/// "quoted text", which search all fields, and log_id("x"), a comparison of logName. OR binds tighter than
/// AND; two terms side by side are joined by AND. Other functions (sample, ip_in_range, source, SEARCH, cast,
/// regexp_extract) are rejected with an error that names them.
namespace trainyard::wire {

inline constexpr std::size_t kFilterBytesMax = 20'000;
inline constexpr std::size_t kFilterDepthMax = 50;
inline constexpr std::size_t kFilterPatternsMax = 20;
/// Characters of all regular expressions of a filter: the time to compile one grows with its square.
inline constexpr std::size_t kFilterPatternsLengthMax = 2'000;

enum class Comparator {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kHas,
  kMatches,
  kNotMatches,
};

struct Filter;

struct And {
  std::vector<Filter> terms;  ///< none: true
};
struct Or {
  std::vector<Filter> terms;
};
struct Not {
  std::vector<Filter> term;  ///< exactly one (a vector, because the type is incomplete here)
};
struct Comparison {
  std::vector<std::string> path;  ///< "resource.labels.job_id" as three parts
  Comparator comparator = Comparator::kEqual;
  std::string value;
  bool quoted = false;    ///< in a quoted value, `*` is a literal star; elsewhere it matches any text
  bool any_case = false;  ///< = and != of text ignore case: set by ParseLogFilter
  std::shared_ptr<const re2::RE2> pattern;  ///< of =~ and !~; shared: immutable, and filters are copied
};
struct Search {
  std::string text;
};

/// A parsed filter; the default one matches everything.
struct Filter {
  std::variant<And, Or, Not, Comparison, Search> node;
};

/// kInvalidArgument with field "filter": "Unparseable filter: syntax error at line 1, column 5, token 'x'", a
/// pattern that RE2 refuses, an unknown function, or a filter beyond the limits above.
[[nodiscard]] Result<Filter> ParseFilter(std::string_view text);

/// Whether every path of the filter names a field of this message type and every value is one of that field's
/// type. kInvalidArgument with field "filter" that names the first one that does not.
[[nodiscard]] Status CheckFilter(const Filter& filter, const google::protobuf::Descriptor& type);

/// Whether the message satisfies the filter. Paths use JSON or proto names and go through messages, maps,
/// lists (any element) and Structs. `=` compares text exactly unless any_case, `:` and searches without case.
/// Enums compare by number (so severities are ordered), times as times. A scalar field of the message's type
/// that is not set has its default value, also below messages that are not set; a comparison with a missing
/// label, member of a Struct or message is false, including `!=`. `field:*` asks whether it is set, and
/// NULL_VALUE is JSON's null. A comparison that CheckFilter would refuse is false.
[[nodiscard]] bool Matches(const Filter& filter, const google::protobuf::Message& message);

}  // namespace trainyard::wire

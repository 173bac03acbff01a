#include "base/wire/filter.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/struct.pb.h>
#include <re2/re2.h>

#include <cstddef>
#include <string>
#include <utility>

#include "base/overloaded.h"
#include "base/text/percent.h"
#include "base/wire/field_selector.h"
#include "base/wire/filter_operand.h"
#include "base/wire/utf8.h"

namespace trainyard::wire {

namespace {

constexpr int kPatternBytesMax = 256 << 10;  // of RE2's compiled program and caches

std::unexpected<Error> Refused(std::string message) {
  return std::unexpected(InvalidArgument("filter", std::move(message)));
}

/// Recursive descent: expression = sequence of factors (AND), factor = terms joined by OR, term = [NOT]
/// primary.
class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : lexer_(text) {}

  Result<Filter> Parse() {
    if (lexer_.AtEnd()) return Filter();
    TY_TRY(Filter filter, Expression(nullptr));
    if (!lexer_.AtEnd()) return std::unexpected(lexer_.Mistake());
    return filter;
  }

 private:
  /// Within `path=(...)`: what is left of the group.
  struct LeftSide {
    const std::vector<std::string>& path;
    Comparator comparator;
  };

  Result<Filter> Expression(const LeftSide* left) {
    if (++depth_ > kFilterDepthMax) return Refused("Filter is nested too deep");
    std::vector<Filter> factors;
    do {
      TY_TRY(Filter factor, Factor(left));
      factors.push_back(std::move(factor));
    } while (lexer_.TakeKeyword("AND") || !(lexer_.AtEnd() || lexer_.Peek(')')));
    --depth_;
    if (factors.size() == 1) return std::move(factors.front());
    return Filter{And{std::move(factors)}};
  }

  Result<Filter> Factor(const LeftSide* left) {
    std::vector<Filter> terms;
    do {
      TY_TRY(Filter term, Term(left));
      terms.push_back(std::move(term));
    } while (lexer_.TakeKeyword("OR"));
    if (terms.size() == 1) return std::move(terms.front());
    return Filter{Or{std::move(terms)}};
  }

  Result<Filter> Term(const LeftSide* left) {
    bool negated = false;
    // Within a group, a minus before a value belongs to a number.
    while (lexer_.TakeKeyword("NOT") || (left == nullptr && lexer_.TakeMinus())) negated = !negated;
    TY_TRY(Filter filter, Primary(left));
    if (!negated) return filter;
    Not inverse;
    inverse.term.push_back(std::move(filter));
    return Filter{std::move(inverse)};
  }

  Result<Filter> Primary(const LeftSide* left) {
    if (lexer_.PeekKeyword("AND") || lexer_.PeekKeyword("OR")) return std::unexpected(lexer_.Mistake());
    if (lexer_.Take('(')) {
      TY_TRY(Filter inner, Expression(left));
      if (!lexer_.Take(')')) return std::unexpected(lexer_.Mistake());
      return inner;
    }
    return left != nullptr ? Value(*left) : ComparisonOrSearch();
  }

  Result<Filter> ComparisonOrSearch() {
    std::vector<FilterLexer::Text> words;
    if (lexer_.AtEnd()) return std::unexpected(lexer_.Mistake());
    const std::size_t start = lexer_.at();
    if (!lexer_.TakePath(words)) return std::unexpected(lexer_.Mistake());
    const std::size_t end = lexer_.at();
    Comparator comparator{};
    if (!lexer_.TakeComparator(comparator)) {
      std::string text;
      for (const auto& word : words) text += (text.empty() ? "" : ".") + word.text;
      if (!words[0].quoted && lexer_.Peek('(') && lexer_.at() == end) return Function(text, start);
      return Filter{Search{std::move(text)}};
    }
    std::vector<std::string> parts;
    parts.reserve(words.size());
    for (auto& word : words) parts.push_back(std::move(word.text));
    const LeftSide left{.path = parts, .comparator = comparator};
    if (!lexer_.Take('(')) return Value(left);
    TY_TRY(Filter group, Expression(&left));
    if (!lexer_.Take(')')) return std::unexpected(lexer_.Mistake());
    return group;
  }

  Result<Filter> Function(const std::string& name, std::size_t start) {
    if (name != "log_id") {
      return Refused("Unparseable filter: function '" + name + "' at " + lexer_.Place(start) +
                     " is not supported; log_id is");
    }
    FilterLexer::Text id;
    if (!lexer_.Take('(') || !lexer_.TakeValue(id) || !lexer_.Take(')'))
      return std::unexpected(lexer_.Mistake());
    return Filter{Comparison{.path = {"logName"},
                             .comparator = Comparator::kEqual,
                             .value = "*/logs/" + text::PercentEncode(id.text),
                             .quoted = false,
                             .any_case = false,
                             .pattern = nullptr}};
  }

  Result<Filter> Value(const LeftSide& left) {
    FilterLexer::Text value;
    if (!lexer_.TakeValue(value)) return std::unexpected(lexer_.Mistake());
    Comparison comparison{.path = left.path,
                          .comparator = left.comparator,
                          .value = std::move(value.text),
                          .quoted = value.quoted,
                          .any_case = false,
                          .pattern = nullptr};
    if (left.comparator == Comparator::kMatches || left.comparator == Comparator::kNotMatches) {
      TY_RETURN_IF_ERROR(Compile(comparison));
    }
    return Filter{std::move(comparison)};
  }

  Status Compile(Comparison& comparison) {
    if (++patterns_ > kFilterPatternsMax) return Refused("Filter has too many regular expressions");
    patterns_length_ += comparison.value.size();
    if (patterns_length_ > kFilterPatternsLengthMax)
      return Refused("Filter has regular expressions of more than " +
                     std::to_string(kFilterPatternsLengthMax) + " characters");
    re2::RE2::Options options(re2::RE2::Quiet);
    options.set_max_mem(kPatternBytesMax);
    auto pattern = std::make_shared<const re2::RE2>(comparison.value, options);
    if (!pattern->ok()) {
      return Refused("Unparseable filter: regular expressions must be valid RE2: " +
                     ReplaceMalformed(pattern->error()));
    }
    comparison.pattern = std::move(pattern);
    return {};
  }

  FilterLexer lexer_;
  std::size_t depth_ = 0;
  std::size_t patterns_ = 0;
  std::size_t patterns_length_ = 0;
};

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::string Join(const std::vector<std::string>& path) {
  std::string text;
  for (const auto& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

bool IsAnyJson(const Descriptor& type) {
  return type.file() == google::protobuf::Struct::descriptor()->file();
}

/// The field to which the path leads; null if it leads into a Struct, where anything may be. For a map: the
/// map's field.
Result<const FieldDescriptor*> Resolve(const std::vector<std::string>& path, const Descriptor& root) {
  const Descriptor* type = &root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const FieldDescriptor* field = FindField(*type, path[i]);
    if (field == nullptr) return Refused("Field not found: '" + Join(path) + "'");
    const bool last = i + 1 == path.size();
    if (last) return field;
    if (field->is_map()) return field->message_type()->map_value();
    if (field->message_type() == nullptr) return Refused("Field not found: '" + Join(path) + "'");
    if (IsAnyJson(*field->message_type())) return nullptr;
    type = field->message_type();
  }
  return nullptr;
}

bool IsOrder(Comparator comparator) {
  return comparator == Comparator::kLess || comparator == Comparator::kLessOrEqual ||
         comparator == Comparator::kGreater || comparator == Comparator::kGreaterOrEqual;
}

/// Whether the value can be read as the field's type. Text fields take any value.
bool Fits(const Comparison& comparison, const FieldDescriptor& field) {
  const bool pattern = comparison.pattern != nullptr;
  if (field.message_type() != nullptr) {
    const std::string& name = field.message_type()->full_name();
    if (name == "google.protobuf.Timestamp") return !pattern && ReadTime(comparison.value).has_value();
    if (name == "google.protobuf.Duration") return !pattern && ReadLength(comparison.value).has_value();
    return comparison.comparator == Comparator::kHas;
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING: return true;
    case FieldDescriptor::CPPTYPE_BOOL:
      return !pattern && !IsOrder(comparison.comparator) && ReadBool(comparison.value).has_value();
    case FieldDescriptor::CPPTYPE_ENUM:
      return pattern || FindEnumValue(*field.enum_type(), comparison.value) != nullptr;
    default: return !pattern && ReadNumber(comparison.value).has_value();
  }
}

Status CheckComparison(const Comparison& comparison, const Descriptor& type) {
  TY_TRY(const FieldDescriptor* field, Resolve(comparison.path, type));
  if (field == nullptr || AsksForPresence(comparison) || Fits(comparison, *field)) return {};
  return Refused("Invalid value for field '" + Join(comparison.path) + "': '" + comparison.value + "'");
}

Status CheckAll(const std::vector<Filter>& terms, const Descriptor& type) {
  for (const Filter& term : terms) TY_RETURN_IF_ERROR(CheckFilter(term, type));
  return {};
}

}  // namespace

Result<Filter> ParseFilter(std::string_view text) {
  if (text.size() > kFilterBytesMax) {
    return Refused("Filter is longer than " + std::to_string(kFilterBytesMax) + " characters");
  }
  if (!IsUtf8(text)) return Refused("Filter is not valid UTF-8");
  return FilterParser(text).Parse();
}

Status CheckFilter(const Filter& filter, const Descriptor& type) {
  return std::visit(Overloaded{
                        [&](const And& all) { return CheckAll(all.terms, type); },
                        [&](const Or& any) { return CheckAll(any.terms, type); },
                        [&](const Not& inverse) { return CheckAll(inverse.term, type); },
                        [&](const Comparison& comparison) { return CheckComparison(comparison, type); },
                        [](const Search&) { return Status(); },
                    },
                    filter.node);
}

}  // namespace trainyard::wire

#include "cli/gcloud/list_filter.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <compare>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "cli/gcloud/output_format.h"

namespace trainyard::cli {

struct ListFilter::Node {
  enum class Kind { kAnd, kOr, kNot, kEqual, kHas, kRegex, kLess, kLessEqual, kGreater, kGreaterEqual };
  Kind kind = Kind::kAnd;
  std::vector<Node> children;
  std::string key;
  std::vector<std::string> values;          ///< any of them
  std::shared_ptr<const RE2> expression{};  ///< kRegex; shared because nodes are values
};

namespace {

using Node = ListFilter::Node;
constexpr int kDepthMax = 50;

/// Parses the whole text as a number; words such as "nan" are not numbers.
std::optional<double> Number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Compares numbers by value and before text. A total order, as sorting needs.
std::strong_ordering Compare(const std::string& a, const std::string& b) {
  std::optional<double> a_number = Number(a);
  std::optional<double> b_number = Number(b);
  if (a_number.has_value() != b_number.has_value())
    return a_number ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a_number)
    return *a_number < *b_number   ? std::strong_ordering::less
           : *a_number > *b_number ? std::strong_ordering::greater
                                   : std::strong_ordering::equal;
  return ToLower(a) <=> ToLower(b);
}

class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : text_(text) {}

  Result<Node> Run() {
    TY_TRY(Node root, Or(0));
    Skip();
    if (!text_.empty()) return std::unexpected(Wrong("Unexpected text"));
    return root;
  }

 private:
  Error Wrong(const std::string& what) const {
    return InvalidArgument(
        "", "The --filter expression is malformed: " + what + " at [" + std::string(text_) + "].");
  }

  void Skip() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0)
      text_.remove_prefix(1);
  }

  bool Word(std::string_view word) {
    Skip();
    if (!text_.starts_with(word)) return false;
    if (text_.size() > word.size() && std::isspace(static_cast<unsigned char>(text_[word.size()])) == 0 &&
        text_[word.size()] != '(')
      return false;
    text_.remove_prefix(word.size());
    return true;
  }

  Result<Node> Or(int depth) {
    if (depth > kDepthMax) return std::unexpected(Wrong("Too many parentheses"));
    Node any{.kind = Node::Kind::kOr};
    do {
      TY_TRY(Node all, And(depth));
      any.children.push_back(std::move(all));
    } while (Word("OR"));
    return any;
  }

  Result<Node> And(int depth) {
    Node all{.kind = Node::Kind::kAnd};
    for (;;) {
      Word("AND");
      Skip();
      if (text_.empty() || text_.front() == ')') break;
      std::string_view here = text_;
      if (Word("OR")) {
        text_ = here;
        break;
      }
      TY_TRY(Node one, Factor(depth));
      all.children.push_back(std::move(one));
    }
    if (all.children.empty()) return std::unexpected(Wrong("Term expected"));
    return all;
  }

  Result<Node> Factor(int depth) {
    bool minus = text_.starts_with('-');
    if (minus) text_.remove_prefix(1);
    if (minus || Word("NOT")) {
      if (depth > kDepthMax) return std::unexpected(Wrong("Too many negations"));
      Node negated{.kind = Node::Kind::kNot};
      Skip();
      TY_TRY(Node one, Factor(depth + 1));
      negated.children.push_back(std::move(one));
      return negated;
    }
    if (!text_.starts_with('(')) return Term();
    text_.remove_prefix(1);
    TY_TRY(Node inner, Or(depth + 1));
    Skip();
    if (!text_.starts_with(')')) return std::unexpected(Wrong("Parenthesis expected"));
    text_.remove_prefix(1);
    return inner;
  }

  Result<Node> Term() {
    std::size_t end = text_.find_first_of("=!:~<> \t()");
    Node term{.key = std::string(text_.substr(0, end))};
    if (term.key.empty() || end == std::string_view::npos)
      return std::unexpected(Wrong("KEY OPERATOR VALUE expected"));
    text_.remove_prefix(end);
    Skip();
    static constexpr std::pair<std::string_view, Node::Kind> kOperators[] = {
        {"!=", Node::Kind::kEqual},        {"!~", Node::Kind::kRegex}, {"<=", Node::Kind::kLessEqual},
        {">=", Node::Kind::kGreaterEqual}, {"=", Node::Kind::kEqual},  {":", Node::Kind::kHas},
        {"~", Node::Kind::kRegex},         {"<", Node::Kind::kLess},   {">", Node::Kind::kGreater}};
    for (auto [symbol, kind] : kOperators) {
      if (!text_.starts_with(symbol)) continue;
      bool negated = symbol.starts_with('!');
      text_.remove_prefix(symbol.size());
      term.kind = kind;
      TY_RETURN_IF_ERROR(Values(term));
      if (!negated) return term;
      Node outer{.kind = Node::Kind::kNot};
      outer.children.push_back(std::move(term));
      return outer;
    }
    return std::unexpected(Wrong("Operator expected"));
  }

  Status Values(Node& term) {
    Skip();
    bool several = text_.starts_with('(');
    if (several) text_.remove_prefix(1);
    do {
      Skip();
      if (several && Word("OR")) continue;
      if (several && text_.starts_with(')')) break;
      TY_TRY(std::string value, Value());
      term.values.push_back(std::move(value));
    } while (several && !text_.empty());
    if (several && !text_.starts_with(')')) return std::unexpected(Wrong("Parenthesis expected"));
    if (several) text_.remove_prefix(1);
    if (term.values.empty()) return std::unexpected(Wrong("Value expected"));
    if (term.kind != Node::Kind::kRegex) return {};
    term.expression = std::make_shared<const RE2>(term.values.front(), RE2::Quiet);
    if (!term.expression->ok())
      return std::unexpected(Wrong("Bad regular expression (" + term.expression->error() + ")"));
    return {};
  }

  Result<std::string> Value() {
    char quote = text_.empty() ? '\0' : text_.front();
    if (quote == '"' || quote == '\'') {
      std::size_t end = text_.find(quote, 1);
      if (end == std::string_view::npos) return std::unexpected(Wrong("Closing quote expected"));
      std::string value(text_.substr(1, end - 1));
      text_.remove_prefix(end + 1);
      return value;
    }
    std::size_t end = text_.find_first_of(" \t()");
    std::string value(text_.substr(0, end));
    if (value.empty()) return std::unexpected(Wrong("Value expected"));
    text_.remove_prefix(std::min(end, text_.size()));
    return value;
  }

  std::string_view text_;
};

bool Holds(const Node& term, const std::string& text, const std::string& value) {
  switch (term.kind) {
    case Node::Kind::kEqual: return Compare(text, value) == std::strong_ordering::equal;
    case Node::Kind::kHas:
      return value == "*"
                 ? !text.empty()
                 : ToLower(text).find(ToLower(value.substr(0, value.find('*')))) != std::string::npos;
    case Node::Kind::kRegex: return RE2::PartialMatch(text, *term.expression);
    case Node::Kind::kLess: return Compare(text, value) < 0;
    case Node::Kind::kLessEqual: return Compare(text, value) <= 0;
    case Node::Kind::kGreater: return Compare(text, value) > 0;
    case Node::Kind::kGreaterEqual: return Compare(text, value) >= 0;
    case Node::Kind::kAnd:
    case Node::Kind::kOr:
    case Node::Kind::kNot: return false;
  }
  return false;
}

bool Evaluate(const Node& node, const Json& resource) {
  auto holds = [&resource](const Node& child) { return Evaluate(child, resource); };
  if (node.kind == Node::Kind::kAnd) return std::ranges::all_of(node.children, holds);
  if (node.kind == Node::Kind::kOr) return std::ranges::any_of(node.children, holds);
  if (node.kind == Node::Kind::kNot) return !holds(node.children.front());
  std::string text = FieldText(resource, node.key);
  return std::ranges::any_of(node.values, [&](const std::string& value) { return Holds(node, text, value); });
}

}  // namespace

Result<ListFilter> ListFilter::Parse(std::string_view text) {
  TY_TRY(Node root, FilterParser(text).Run());
  return ListFilter(std::make_shared<const Node>(std::move(root)));
}

bool ListFilter::Matches(const Json& resource) const { return Evaluate(*root_, resource); }

void SortBy(std::vector<Json>& resources, const std::vector<std::string>& fields) {
  std::vector<std::size_t> order(resources.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    for (const std::string& field : fields) {
      bool descending = field.starts_with('~');
      std::string path = field.substr(descending ? 1 : 0);
      std::strong_ordering compared = Compare(FieldText(resources[a], path), FieldText(resources[b], path));
      if (compared != 0) return descending ? compared > 0 : compared < 0;
    }
    return a < b;  // equal resources keep the server's order
  });
  std::vector<Json> sorted;
  for (std::size_t index : order) sorted.push_back(std::move(resources[index]));
  resources = std::move(sorted);
}

}  // namespace trainyard::cli

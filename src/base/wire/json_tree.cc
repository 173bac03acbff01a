#include "base/wire/json_tree.h"

#include <boost/json/basic_parser_impl.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/text/json_string.h"

namespace trainyard::wire {

namespace {

/// The string literal at the front of `text`, quotes included.
std::string_view Literal(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return text.substr(0, end + 1);
}

using Part = boost::json::string_view;
using boost::system::error_code;

constexpr std::size_t kPathNameBytesMax = 100;

/// Builds a tree from the events of boost.json's parser. Its public names are those of the handler concept.
/// Strings, keys and numbers may come in parts.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;

  explicit TreeBuilder(std::size_t values_max) : values_left_(values_max) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) { return Open(JsonValue::Kind::kObject, error); }
  bool on_object_end(std::size_t, error_code&) { return Close(); }
  bool on_array_begin(error_code& error) { return Open(JsonValue::Kind::kArray, error); }
  bool on_array_end(std::size_t, error_code&) { return Close(); }
  bool on_key_part(Part part, std::size_t, error_code&) { return Append(name_, part); }
  bool on_key(Part part, std::size_t, error_code&) { return Append(name_, part); }
  bool on_string_part(Part part, std::size_t, error_code&) { return Append(text_, part); }
  bool on_string(Part part, std::size_t, error_code& error) {
    Append(text_, part);
    return Add(JsonValue::Kind::kString, error);
  }
  bool on_number_part(Part part, error_code&) { return Append(text_, part); }
  bool on_int64(std::int64_t, Part part, error_code& error) { return Number(part, error); }
  bool on_uint64(std::uint64_t, Part part, error_code& error) { return Number(part, error); }
  bool on_double(double, Part part, error_code& error) { return Number(part, error); }
  bool on_bool(bool value, error_code& error) {
    text_ = value ? "true" : "false";
    return Add(JsonValue::Kind::kBool, error);
  }
  bool on_null(error_code& error) { return Add(JsonValue::Kind::kNull, error); }
  bool on_comment_part(Part, error_code&) { return true; }
  bool on_comment(Part, error_code&) { return true; }

  [[nodiscard]] JsonValue Take() { return std::move(root_); }
  [[nodiscard]] bool too_many() const noexcept { return too_many_; }
  /// Names of the objects and arrays that are open: "trainingInput.args".
  [[nodiscard]] std::string OpenPath() const {
    std::string path;
    for (const JsonValue& value : open_) {
      if (value.name.empty()) continue;
      if (!path.empty()) path += '.';
      path += value.name.substr(0, kPathNameBytesMax);
    }
    return path;
  }

 private:
  static bool Append(std::string& into, Part part) {
    into.append(part.data(), part.size());
    return true;
  }
  bool Number(Part part, error_code& error) {
    Append(text_, part);
    return Add(JsonValue::Kind::kNumber, error);
  }
  bool Count(error_code& error) {
    if (values_left_-- > 0) return true;
    too_many_ = true;
    error = boost::json::error::array_too_large;
    return false;
  }
  bool Add(JsonValue::Kind kind, error_code& error) {
    if (!Count(error)) return false;
    Put({.kind = kind, .name = std::exchange(name_, {}), .text = std::exchange(text_, {}), .children = {}});
    return true;
  }
  bool Open(JsonValue::Kind kind, error_code& error) {
    if (!Count(error)) return false;
    open_.push_back({.kind = kind, .name = std::exchange(name_, {}), .text = {}, .children = {}});
    return true;
  }
  bool Close() {
    JsonValue closed = std::move(open_.back());
    open_.pop_back();
    Put(std::move(closed));
    return true;
  }
  /// Into the innermost open object or array.
  void Put(JsonValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().children.push_back(std::move(value));
    }
  }

  std::size_t values_left_;
  bool too_many_ = false;
  JsonValue root_;
  std::vector<JsonValue> open_;
  std::string name_;
  std::string text_;
};

void Append(std::string& out, const JsonValue& value) {
  using Kind = JsonValue::Kind;
  const bool is_object = value.kind == Kind::kObject;
  switch (value.kind) {
    case Kind::kNull: out += "null"; return;
    case Kind::kBool:
    case Kind::kNumber: out += value.text; return;
    case Kind::kString: out += text::QuoteJson(value.text); return;
    case Kind::kArray:
    case Kind::kObject: break;
  }
  out += is_object ? '{' : '[';
  const std::size_t start = out.size();
  for (const JsonValue& child : value.children) {
    if (out.size() > start) out += ',';
    if (is_object) out.append(text::QuoteJson(child.name)).push_back(':');
    Append(out, child);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

Result<JsonValue> ParseJsonTree(std::string_view text, std::size_t values_max) {
  boost::json::parse_options options;
  options.max_depth = kJsonDepthMax;
  options.allow_trailing_commas = true;
  boost::json::basic_parser<TreeBuilder> parser(options, values_max);
  error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
    error = boost::json::error::extra_data;
  if (parser.handler().too_many()) {
    return std::unexpected(Error{Code::kResourceExhausted,
                                 "More than " + std::to_string(values_max) + " values",
                                 parser.handler().OpenPath()});
  }
  if (error == boost::json::error::too_deep) {
    return std::unexpected(InvalidArgument({}, "Message too deep. Max recursion depth reached"));
  }
  if (error) return std::unexpected(InvalidArgument({}, "Unexpected token (" + error.message() + ")"));
  return parser.handler().Take();
}

std::string PrintJsonTree(const JsonValue& value) {
  std::string out;
  Append(out, value);
  return out;
}

std::string IndentJson(std::string_view compact) {
  std::string out;
  out.reserve(compact.size() * 2);
  std::size_t depth = 0;
  const auto new_line = [&] { out.append("\n").append(depth * 2, ' '); };
  for (std::size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    const char next = i + 1 < compact.size() ? compact[i + 1] : '\0';
    switch (c) {
      case '"': {
        const std::string_view literal = Literal(compact.substr(i));
        out.append(literal);
        i += literal.size() - 1;
        break;
      }
      case '{':
      case '[':
        out.push_back(c);
        if (next == '}' || next == ']') {
          out.push_back(next);
          ++i;
          break;
        }
        ++depth;
        new_line();
        break;
      case '}':
      case ']':
        if (depth > 0) --depth;
        new_line();
        out.push_back(c);
        break;
      case ',':
        out.push_back(c);
        new_line();
        break;
      case ':': out.append(": "); break;
      default: out.push_back(c);
    }
  }
  out.push_back('\n');
  return out;
}

std::string CompactJson(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view token = text.front() == '"' ? Literal(text) : text.substr(0, 1);
    if (!kBlanks.contains(token.front())) out.append(token);
    text.remove_prefix(token.size());
  }
  return out;
}

}  // namespace trainyard::wire

#include "wire/json_tree.h"

#include <boost/json/basic_parser_impl.hpp>
#include <cstdint>
#include <utility>

namespace trainyard::wire {
namespace {

using boost::system::error_code;

/// What boost.json's parser reports, as a tree. Strings, keys and numbers may come in parts.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size =
      SIZE_MAX;  // names and values below are boost.json's handler concept
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return Open(JsonValue::Kind::kObject); }
  bool on_object_end(std::size_t, error_code&) { return Close(); }
  bool on_array_begin(error_code&) { return Open(JsonValue::Kind::kArray); }
  bool on_array_end(std::size_t, error_code&) { return Close(); }
  bool on_key_part(boost::json::string_view part, std::size_t, error_code&) { return Part(name_, part); }
  bool on_key(boost::json::string_view part, std::size_t, error_code&) { return Part(name_, part); }
  bool on_string_part(boost::json::string_view part, std::size_t, error_code&) { return Part(text_, part); }
  bool on_string(boost::json::string_view part, std::size_t, error_code&) {
    Part(text_, part);
    return Add(JsonValue::Kind::kString);
  }
  bool on_number_part(boost::json::string_view part, error_code&) { return Part(text_, part); }
  bool on_int64(std::int64_t, boost::json::string_view part, error_code&) { return Number(part); }
  bool on_uint64(std::uint64_t, boost::json::string_view part, error_code&) { return Number(part); }
  bool on_double(double, boost::json::string_view part, error_code&) { return Number(part); }
  bool on_bool(bool value, error_code&) {
    text_ = value ? "true" : "false";
    return Add(JsonValue::Kind::kBool);
  }
  bool on_null(error_code&) { return Add(JsonValue::Kind::kNull); }
  bool on_comment_part(boost::json::string_view, error_code&) { return true; }
  bool on_comment(boost::json::string_view, error_code&) { return true; }

  [[nodiscard]] JsonValue Take() { return std::move(root_); }

 private:
  static bool Part(std::string& into, boost::json::string_view part) {
    into.append(part.data(), part.size());
    return true;
  }
  bool Number(boost::json::string_view part) {
    Part(text_, part);
    return Add(JsonValue::Kind::kNumber);
  }
  bool Add(JsonValue::Kind kind) {
    JsonValue value{
        .kind = kind, .name = std::exchange(name_, {}), .text = std::exchange(text_, {}), .children = {}};
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().children.push_back(std::move(value));
    }
    return true;
  }
  bool Open(JsonValue::Kind kind) {
    open_.push_back({.kind = kind, .name = std::exchange(name_, {}), .text = {}, .children = {}});
    return true;
  }
  bool Close() {
    JsonValue closed = std::move(open_.back());
    open_.pop_back();
    if (open_.empty()) {
      root_ = std::move(closed);
    } else {
      open_.back().children.push_back(std::move(closed));
    }
    return true;
  }

  JsonValue root_;
  std::vector<JsonValue> open_;
  std::string name_;
  std::string text_;
};

}  // namespace

Result<JsonValue> ParseJsonTree(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kJsonDepthMax;
  options.allow_trailing_commas = true;
  boost::json::basic_parser<TreeBuilder> parser(options);
  error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && text.find_first_not_of(" \t\r\n", read) != std::string_view::npos)
    error = boost::json::error::extra_data;
  if (error == boost::json::error::too_deep) {
    return std::unexpected(InvalidArgument({}, "Message too deep. Max recursion depth reached"));
  }
  if (error) return std::unexpected(InvalidArgument({}, "Unexpected token (" + error.message() + ")"));
  return parser.handler().Take();
}

}  // namespace trainyard::wire

#include "api/storage/storage_handlers_error.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/wire/json_indent.h"
#include "base/wire/utf8.h"

namespace trainyard::api::storage_api {
namespace {

namespace json = boost::json;

void AppendXmlText(std::string& out, std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += byte < 0x20 ? ' ' : c;
    }
  }
}

}  // namespace

http::Response StatusAnswer(int status, std::string_view reason, std::string_view message) {
  const std::string text = wire::ReplaceMalformed(message);
  json::object first{{"message", text}, {"domain", "global"}, {"reason", reason}};
  json::object error{{"code", status}, {"message", text}};
  error["errors"] = json::array{std::move(first)};
  return http::Response::Json(wire::IndentJson(json::serialize(json::object{{"error", std::move(error)}})),
                              status);
}

std::string PrintXmlError(std::string_view code, std::string_view message, std::string_view details) {
  std::string body = "<?xml version='1.0' encoding='UTF-8'?><Error><Code>";
  AppendXmlText(body, code);
  body += "</Code><Message>";
  AppendXmlText(body, wire::ReplaceMalformed(message));
  body += "</Message>";
  if (!details.empty()) {
    body += "<Details>";
    AppendXmlText(body, wire::ReplaceMalformed(details));
    body += "</Details>";
  }
  return body + "</Error>";
}

}  // namespace trainyard::api::storage_api

#include "api/storage/storage_handlers_partial.h"

#include <string>
#include <utility>
#include <variant>

#include "base/wire/json_indent.h"

namespace trainyard::api::storage_api {

Result<AnswerForm> AnswerForm::Read(const http::Request& request) {
  AnswerForm form;
  form.compact_ = request.Query("prettyPrint") == "false";
  if (request.Query("fields").empty()) return form;
  auto selector = wire::FieldSelector::Parse(request.Query("fields"));
  if (!selector) {
    return std::unexpected(
        InvalidArgument("fields", "Invalid field selection " + std::string(request.Query("fields"))));
  }
  form.fields_ = *std::move(selector);
  return form;
}

void AnswerForm::Apply(http::Response& answer) const {
  constexpr int kFirstError = 300;
  auto* body = std::get_if<std::string>(&answer.body);
  const bool is_json = answer.headers.Get("Content-Type").starts_with("application/json");
  if (body == nullptr || body->empty() || !is_json || answer.status >= kFirstError) return;
  if (fields_) *body = fields_->Apply(*body);
  if (compact_) *body = wire::CompactJson(*body);
}

}  // namespace trainyard::api::storage_api

// The envelope of batches: every call's head and body is part of the request. The first line is the content
// type.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/batch_handlers.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  const auto calls = trainyard::api::ParseBatch(text.substr(0, line), body);
  if (!calls) {
    TY_CHECK(!calls.error().message.empty());
    return 0;
  }
  TY_CHECK(!calls->empty() && calls->size() <= trainyard::api::kBatchCallsMax);
  for (const auto& call : *calls) {
    TY_CHECK(body.contains(call.body));
    TY_CHECK(body.contains(call.head.method));
    TY_CHECK(body.contains(call.head.target));
    TY_CHECK(trainyard::api::ResponseContentId(call.content_id).empty() == call.content_id.empty());
  }
  return 0;
}

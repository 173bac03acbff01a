#include "net/grpc/call_stream.h"

#include <algorithm>
#include <boost/asio/cancellation_type.hpp>
#include <cstring>

#include "base/check.h"
#include "net/grpc/grpc_text.h"

namespace trainyard::grpc {

namespace {

constexpr int kUnimplemented = static_cast<int>(Code::kUnimplemented);

Fields StatusFields(const Reply& reply) {
  Fields fields{{"grpc-status", std::to_string(reply.status)}};
  if (!reply.text.empty()) fields.emplace_back("grpc-message", PrintStatusText(reply.text));
  std::string details = PrintBinary(reply.details);
  if (!details.empty() && details.size() <= kStatusFieldBytesMax)
    fields.emplace_back("grpc-status-details-bin", std::move(details));
  // A client whose compression is not known here learns what it may use.
  if (reply.status == kUnimplemented) fields.emplace_back("grpc-accept-encoding", "identity,gzip");
  return fields;
}

}  // namespace

StreamAnswer AnswerOf(const Reply& reply) {
  StreamAnswer answer{.fields = {{":status", "200"}, {"content-type", "application/grpc"}}};
  Fields status = StatusFields(reply);
  if (reply.status == 0) {
    answer.body = PrintMessage(reply.message);
    answer.trailers = std::move(status);
  } else {
    answer.fields.insert(answer.fields.end(), status.begin(), status.end());
  }
  return answer;
}

StreamAnswer AnswerOf(const CallRefusal& refusal, bool with_body) {
  StreamAnswer answer{
      .fields = {{":status", std::to_string(refusal.http_status)}, {"content-type", "text/plain"}}};
  if (refusal.http_status == 405) answer.fields.emplace_back("allow", "POST");
  if (with_body) answer.body = refusal.error.message;
  return answer;
}

void CallStream::CancelHandler() {
  if (!is_handled) return;
  was_cancelled = true;
  cancel.emit(boost::asio::cancellation_type::terminal);
}

void CallStream::SetAnswer(StreamAnswer used) {
  TY_CHECK(!is_answered);
  is_answered = true;
  answer = std::move(used);
}

std::size_t CallStream::TakeBody(std::span<std::uint8_t> buffer) {
  const std::size_t count = std::min(buffer.size(), answer.body.size() - body_begin);
  if (count > 0) std::memcpy(buffer.data(), answer.body.data() + body_begin, count);
  body_begin += count;
  return count;
}

}  // namespace trainyard::grpc

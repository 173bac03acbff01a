#include "engine/remote/agent_link.h"

#include <array>
#include <string_view>
#include <utility>

#include "programs/attempt/frame.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;

constexpr const char* kConnectionLost = "the connection to the agent was lost";

}  // namespace

/// Received data that is not a complete frame yet.
class AgentLink::Frames {
 public:
  replica::FrameReader reader;
  std::array<char, 64 << 10> buffer{};
};

AgentLink::AgentLink(asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream)
    : loop_(loop), stream_(std::move(stream)), frames_(std::make_shared<Frames>()), wake_(std::move(loop)) {}

asio::awaitable<Result<FromAgent>> AgentLink::Read() {
  const std::shared_ptr<Frames> frames = frames_;
  const std::shared_ptr<mux::Stream> stream = stream_;
  for (;;) {
    std::string_view content;
    frames->reader.SetBytesMax(FrameBytesMax());
    TY_CO_TRY(const bool complete, frames->reader.Next(content));
    if (complete) {
      FromAgent frame;
      if (frame.ParseFromArray(content.data(), static_cast<int>(content.size()))) co_return frame;
      co_return std::unexpected(InvalidArgument("", "not a frame"));
    }
    TY_CO_TRY(const std::size_t size, co_await stream->Read(frames->buffer));
    if (size == 0) co_return std::unexpected(Unavailable(kConnectionLost));
    frames->reader.Feed({frames->buffer.data(), size});
  }
}

asio::awaitable<void> AgentLink::WriteQueued() {
  while (!closed_) {
    if (queue_.empty()) {
      wake_.Reset();
      co_await wake_.Wait();
      continue;
    }
    const std::string bytes = std::exchange(queue_, {});
    const Status written = co_await stream_->Write(bytes);
    if (!written) Close();
  }
}

void AgentLink::Send(const ToAgent& frame) {
  if (closed_) return;
  replica::AppendFrame(frame, queue_);
  wake_.Set();
}

asio::awaitable<Result<AgentLink::Answers>> AgentLink::Ask(ToAgent::Request request) {
  if (closed_) co_return std::unexpected(Unavailable(kConnectionLost));
  const auto question = std::make_shared<Question>(loop_);
  question->several = request.has_collect();
  if (question->several) ++collecting_;
  request.set_request(++asked_);
  questions_.emplace(asked_, question);
  ToAgent frame;
  *frame.mutable_request() = std::move(request);
  Send(frame);
  co_await question->done.Wait();
  if (question->failure) co_return std::unexpected(*std::move(question->failure));
  if (question->answers.empty()) co_return std::unexpected(Unavailable(kConnectionLost));
  const FromAgent::Answer& last = question->answers.back();
  if (last.code() != 0) co_return std::unexpected(Error{static_cast<Code>(last.code()), last.message(), {}});
  co_return std::move(question->answers);
}

void AgentLink::OnAnswer(FromAgent::Answer answer) {
  const auto found = questions_.find(answer.request());
  if (found == questions_.end()) return;
  Question& question = *found->second;
  bool is_last = !question.several || answer.last() || answer.code() != 0;
  const std::size_t bytes = answer.SpaceUsedLong();
  question.bytes += bytes;
  held_ += bytes;
  if (question.bytes > kCollectBytesMax || held_ > kHeldBytesMax) {
    question.answers.clear();
    question.failure = Error{Code::kResourceExhausted, "the agent's answers are larger than they may be", {}};
    is_last = true;
  } else {
    question.answers.push_back(std::move(answer));
  }
  if (!is_last) return;
  held_ -= question.bytes;
  if (question.several) --collecting_;
  question.done.Set();
  questions_.erase(found);
}

std::size_t AgentLink::FrameBytesMax() const noexcept {
  if (!admitted_) return kHelloBytesMax;
  return collecting_ > 0 ? replica::kFrameBytesMax : kAnswerBytesMax;
}

void AgentLink::Close() {
  if (std::exchange(closed_, true)) return;
  stream_->Reset();
  wake_.Set();
  for (auto& [number, question] : std::exchange(questions_, {})) {
    question->answers.clear();
    question->done.Set();
  }
}

}  // namespace trainyard::engine

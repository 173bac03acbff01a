#include "replica/keeper/keeper_message.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace trainyard::keeper {

namespace {

template <class Message>
Result<Message> Parse(std::string_view bytes, bool (*is_known)(const Message&)) {
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(std::min(bytes.size(), kMessageMax + 1))))
    return std::unexpected(InvalidArgument("", "this is not a message of the keeper's protocol"));
  if (is_known(message)) return message;
  return std::unexpected(Error{
      Code::kUnimplemented, "this message is not known here (version " + std::to_string(kVersion) + ")", {}});
}

}  // namespace

Hello Greeting() {
  Hello hello;
  hello.set_version_min(kVersion);
  hello.set_version_max(kVersion);
  return hello;
}

Request AsRequest(Hello hello) {
  Request request;
  *request.mutable_hello() = std::move(hello);
  return request;
}

Request AsRequest(LimitsRequest limits) {
  Request request;
  *request.mutable_limits() = std::move(limits);
  return request;
}

Request AsRequest(StartRequest start) {
  Request request;
  *request.mutable_start() = std::move(start);
  return request;
}

Result<Request> ParseRequest(std::string_view bytes) {
  return Parse<Request>(bytes,
                        [](const Request& one) { return one.request_case() != Request::REQUEST_NOT_SET; });
}

Result<Answer> ParseAnswer(std::string_view bytes) {
  return Parse<Answer>(bytes, [](const Answer& one) { return one.answer_case() != Answer::ANSWER_NOT_SET; });
}

LimitsAnswer AsAnswer(const replica::LimitSupport& support, std::string_view advice) {
  LimitsAnswer answer;
  answer.set_cgroup_version(support.version);
  answer.set_group(support.group);
  for (const replica::MissingLimit& one : support.missing) {
    LimitsAnswer::Missing& missing = *answer.add_missing();
    missing.set_what(one.what);
    missing.set_absent(one.absent);
    missing.set_why(one.why);
  }
  answer.set_advice(std::string(advice));
  return answer;
}

replica::LimitSupport SupportOf(const LimitsAnswer& answer) {
  replica::LimitSupport support{.version = answer.cgroup_version(), .group = answer.group(), .missing = {}};
  for (const LimitsAnswer::Missing& one : answer.missing())
    support.missing.push_back({.what = one.what(), .absent = one.absent(), .why = one.why()});
  return support;
}

bool IsGroupName(std::string_view name) {
  constexpr std::size_t kNameMax = 200;
  const auto allowed = [](char one) {
    const char letter = ToLower(one);
    return (letter >= 'a' && letter <= 'z') || (one >= '0' && one <= '9') || one == '.' || one == '_' ||
           one == '-';
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '.' &&
         std::ranges::all_of(name, allowed);
}

}  // namespace trainyard::keeper

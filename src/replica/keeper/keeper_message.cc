#include "replica/keeper/keeper_message.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/async/unix_socket.h"

namespace trainyard::keeper {

namespace {

/// Settings of pip, uv and others for networks, certificates and indexes. None of them names a program.
constexpr std::array<std::string_view, 34> kSettings{"HTTP_PROXY",
                                                     "HTTPS_PROXY",
                                                     "NO_PROXY",
                                                     "ALL_PROXY",
                                                     "FTP_PROXY",
                                                     "http_proxy",
                                                     "https_proxy",
                                                     "no_proxy",
                                                     "all_proxy",
                                                     "ftp_proxy",
                                                     "SSL_CERT_FILE",
                                                     "SSL_CERT_DIR",
                                                     "CURL_CA_BUNDLE",
                                                     "REQUESTS_CA_BUNDLE",
                                                     "PIP_INDEX_URL",
                                                     "PIP_EXTRA_INDEX_URL",
                                                     "PIP_FIND_LINKS",
                                                     "PIP_NO_INDEX",
                                                     "PIP_TRUSTED_HOST",
                                                     "PIP_CERT",
                                                     "PIP_TIMEOUT",
                                                     "PIP_DEFAULT_TIMEOUT",
                                                     "PIP_RETRIES",
                                                     "PIP_CONFIG_FILE",
                                                     "PIP_PRE",
                                                     "UV_INDEX",
                                                     "UV_DEFAULT_INDEX",
                                                     "UV_INDEX_URL",
                                                     "UV_EXTRA_INDEX_URL",
                                                     "UV_FIND_LINKS",
                                                     "UV_NO_INDEX",
                                                     "UV_HTTP_TIMEOUT",
                                                     "UV_INSECURE_HOST",
                                                     "UV_INDEX_STRATEGY"};

std::string_view NameOf(std::string_view line) { return line.substr(0, line.find('=')); }

bool IsSetting(std::string_view name) {
  return name == "LANG" || name == "LANGUAGE" || name == "TZ" || name.starts_with("LC_") ||
         std::ranges::find(kSettings, name) != kSettings.end();
}

/// "--descriptors=1024"
bool IsOption(std::string_view argument) {
  if (!argument.starts_with("--")) return false;
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos || equals + 1 == argument.size()) return false;
  const auto is_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::all_of(argument.substr(0, equals), is_name) &&
         std::ranges::all_of(argument.substr(equals + 1), is_digit);
}

bool IsFolder(std::string_view path) {
  return path.starts_with('/') && !(std::string(path) + "/").contains("/../");
}

constexpr std::size_t kSpace = CMSG_SPACE(kDescriptorsMax * sizeof(int));
constexpr int kWaitingMax = 128;

/// All received descriptors, so that none is left open.
std::vector<UniqueFd> TakeDescriptors(msghdr& message) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
      taken.emplace_back(descriptor);
    }
  }
  return taken;
}

std::unexpected<Error> Gone(const char* what) {
  return std::unexpected(Unavailable(std::string(what) + ": " + std::strerror(errno)));
}

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

Status SendPacket(int socket, std::string_view bytes, std::span<const int> descriptors) {
  if (bytes.size() > kMessageMax || descriptors.size() > kDescriptorsMax)
    return std::unexpected(Error{Code::kResourceExhausted, "the message is too long for the keeper", {}});
  iovec data{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, kSpace> space{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = space.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* control = CMSG_FIRSTHDR(&message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(control), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return Gone("send");
  return {};
}

Result<Packet> ReceivePacket(int socket) {
  ssize_t size = -1;
  do {
    size = recv(socket, nullptr, 0, MSG_PEEK | MSG_TRUNC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return Gone("receive");
  const bool too_long = static_cast<std::size_t>(size) > kMessageMax;
  Packet packet;
  packet.bytes.resize(too_long ? 1 : static_cast<std::size_t>(size));
  iovec data{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  alignas(cmsghdr) std::array<char, kSpace> space{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  do {
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return Gone("receive");
  packet.descriptors = TakeDescriptors(message);
  if (size == 0) return std::unexpected(Unavailable("the other side has closed the connection"));
  if ((message.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) != 0)
    return std::unexpected(InvalidArgument("", "the packet is too long, or has too many descriptors"));
  return packet;
}

Result<UniqueFd> ListenForPackets(const std::filesystem::path& path) {
  TY_TRY(const UnixAddress address, UnixAddress::Make(path));
  UniqueFd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return std::unexpected(ErrnoError(errno, "socket"));
  unlink(path.c_str());
  const mode_t former = umask(0177);  // so that it has the mode from the beginning
  const int bound = bind(listener.get(), address.get(), sizeof(address.address));
  const int error = errno;
  umask(former);
  if (bound != 0) return std::unexpected(ErrnoError(error, "listen at " + path.string()));
  if (listen(listener.get(), kWaitingMax) != 0)
    return std::unexpected(ErrnoError(errno, "listen at " + path.string()));
  return listener;
}

Result<UniqueFd> ConnectForPackets(const std::filesystem::path& path) {
  TY_TRY(const UnixAddress address, UnixAddress::Make(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return std::unexpected(ErrnoError(errno, "socket"));
  if (connect(socket.get(), address.get(), sizeof(address.address)) != 0)
    return Gone(("connect to " + path.string()).c_str());
  return socket;
}

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

Answer Refusal(const Error& error) {
  Answer answer;
  answer.mutable_refused()->set_code(static_cast<std::uint32_t>(error.code));
  answer.mutable_refused()->set_message(error.message);
  return answer;
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

Result<StartRequest> AsSupervisor(StartRequest request, const std::string& program,
                                  const std::vector<std::string>& variables) {
  const auto refuse = [&program](const std::string& why) {
    return std::unexpected(Error{Code::kPermissionDenied,
                                 "the keeper starts nothing but " + program + " as a supervisor, and " + why,
                                 {}});
  };
  if (request.program() != program) return refuse("not " + request.program());
  const auto& words = request.arguments();
  if (words.size() < 3 || words.size() > kArgumentsMax || words[1] != "replica")
    return refuse("these are not the arguments of one");
  if (!std::all_of(words.begin() + 2, words.end() - 1, IsOption) || !IsFolder(*words.rbegin()))
    return refuse("these are not the arguments of one");
  std::vector<std::string> environment = variables;
  for (std::string& line : *request.mutable_environment()) {
    if (!IsSetting(NameOf(line)) || !line.contains('=')) continue;
    std::erase_if(environment, [&line](const std::string& own) { return NameOf(own) == NameOf(line); });
    environment.push_back(std::move(line));
  }
  request.mutable_environment()->Assign(environment.begin(), environment.end());
  return request;
}

}  // namespace trainyard::keeper

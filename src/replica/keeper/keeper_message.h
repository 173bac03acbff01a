#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "programs/sandbox/cgroups/installation_group.h"
#include "trainyard/keeper/v1/keeper.pb.h"

/// Messages between a server and the keeper: proto/trainyard/keeper/v1/keeper.proto, docs/adr/0042. Pure: any
/// thread.
namespace trainyard::keeper {

using v1::Answer;
using v1::Hello;
using v1::HelloAnswer;
using v1::LimitsAnswer;
using v1::LimitsRequest;
using v1::Refused;
using v1::Request;
using v1::Started;
using v1::StartRequest;

inline constexpr std::size_t kMessageMax = std::size_t{128} << 10;
/// Limit for one packet.
inline constexpr std::size_t kDescriptorsMax = 8;
inline constexpr std::uint32_t kVersion = 1;

/// The first message of a client of this version.
[[nodiscard]] Hello Greeting();

[[nodiscard]] Request AsRequest(Hello hello);
[[nodiscard]] Request AsRequest(LimitsRequest limits);
[[nodiscard]] Request AsRequest(StartRequest start);

/// kInvalidArgument: the bytes are not such a message; kUnimplemented: this version does not know the
/// request.
[[nodiscard]] Result<Request> ParseRequest(std::string_view bytes);
[[nodiscard]] Result<Answer> ParseAnswer(std::string_view bytes);

[[nodiscard]] LimitsAnswer AsAnswer(const replica::LimitSupport& support, std::string_view advice);
[[nodiscard]] replica::LimitSupport SupportOf(const LimitsAnswer& answer);

/// Whether the name consists of letters, digits, '.', '_' and '-', at most 200, without a '.' at the
/// beginning.
[[nodiscard]] bool IsGroupName(std::string_view name);

}  // namespace trainyard::keeper

#include "control/run/token_service.h"

#include <gtest/gtest.h>

#include "control/run/manifest.h"
#include "control/run/web_access.h"

namespace trainyard::control {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

const Keys kKeys = Keys::Derive("secret");
const Keys kOther = Keys::Derive("another");
const std::string kAttempt = "7-worker-replica-0-1";
const AccessToken kToken{.owner = kAttempt, .nonce = "n1", .expires = sys_seconds(seconds(2'000))};
const SysTime kBefore = sys_seconds(seconds(1'999));

TEST(AccessToken, SaysWhoseItIsUntilWhen) {
  EXPECT_EQ(ReadAccessToken(kKeys, PrintAccessToken(kKeys, kToken), kBefore), kToken);
  AccessToken another = kToken;
  another.nonce = "n2";
  EXPECT_NE(PrintAccessToken(kKeys, kToken), PrintAccessToken(kKeys, another));
}

TEST(AccessToken, ExpiresAndIsOneInstallations) {
  const std::string text = PrintAccessToken(kKeys, kToken);
  const auto late = ReadAccessToken(kKeys, text, kToken.expires);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kUnauthenticated);
  EXPECT_NE(late.error().message.find("expired"), std::string::npos);
  EXPECT_FALSE(ReadAccessToken(kOther, text, kBefore));
}

TEST(AccessToken, CannotBeMadeFromAnother) {
  const std::string text = PrintAccessToken(kKeys, kToken);
  for (const auto& [from, to] :
       {std::pair("7-", "8-"), std::pair(".2000.", ".9999."), std::pair(".n1.", ".n2."),
        std::pair("ya29.trainyard.", "ya29.trainyard.x.")}) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(ReadAccessToken(kKeys, changed, kBefore)) << changed;
  }
  for (const char* other :
       {"", "ya29.", "ya29.trainyard.", "ya29.trainyard.x", "ya29.trainyard..", ".", "ya29.real"})
    EXPECT_FALSE(ReadAccessToken(kKeys, other, kBefore)) << other;
  EXPECT_TRUE(LooksLikeAccessToken(text));
  EXPECT_FALSE(LooksLikeAccessToken("ya29.real"));
}

// A proof for a supervisor's connection, a host name, a shell or a token is not valid for anything else.
TEST(AccessToken, NoProofStandsForAnother) {
  const Settings settings{.keys = kKeys};
  const std::string attempt = AttemptToken(settings, kAttempt);
  const std::string host = MetadataHostName(kKeys, kAttempt);
  const std::string mac = host.substr(kAttempt.size() + 1, 40);
  EXPECT_FALSE(attempt.starts_with(mac));
  EXPECT_FALSE(IsAttemptToken(settings, kAttempt, PrintAccessToken(kKeys, kToken)));
  for (const std::string& proof : {attempt, attempt.substr(0, 40), mac, Mac(kKeys.shell, kAttempt)}) {
    for (const std::string& said : {kAttempt, kAttempt + ".9999.n1"})
      EXPECT_FALSE(ReadAccessToken(kKeys, "ya29.trainyard." + said + "." + proof, kBefore)) << proof;
    if (proof != mac) EXPECT_FALSE(AttemptOfHost(kKeys, kAttempt + "." + proof + ".metadata.trainyard"));
    if (proof != attempt) EXPECT_FALSE(IsAttemptToken(settings, kAttempt, proof));
  }
}

TEST(MetadataHostName, TellsWhoAsks) {
  const std::string name = MetadataHostName(kKeys, kAttempt);
  EXPECT_EQ(AttemptOfHost(kKeys, name), kAttempt);
  EXPECT_EQ(AttemptOfHost(kKeys, name + ":80"), kAttempt);
  EXPECT_EQ(AttemptOfHost(kOther, name), std::nullopt);
  EXPECT_EQ(AttemptOfHost(kKeys, "metadata.google.internal"), std::nullopt);
  EXPECT_EQ(AttemptOfHost(kKeys, "8" + name.substr(1)), std::nullopt);
  EXPECT_EQ(AttemptOfHost(kKeys, ".metadata.trainyard"), std::nullopt);
  EXPECT_LE(name.size(), 253U);
}

}  // namespace
}  // namespace trainyard::control

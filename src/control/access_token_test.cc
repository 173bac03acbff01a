#include "control/access_token.h"

#include <gtest/gtest.h>

#include "control/manifest.h"

namespace trainyard::control {
namespace {

const Settings kSettings{.secret = "secret"};
const Settings kOther{.secret = "another"};

TEST(AccessToken, NamesItsOwner) {
  const std::string token = AccessToken(kSettings, "7-worker-replica-0-1");
  EXPECT_EQ(OwnerOfToken(kSettings, token), "7-worker-replica-0-1");
  EXPECT_EQ(OwnerOfToken(kOther, token), std::nullopt);
  EXPECT_EQ(OwnerOfToken(kSettings, AccessToken(kSettings, kAnyReplica)), kAnyReplica);
}

TEST(AccessToken, CannotBeMadeFromAnother) {
  std::string token = AccessToken(kSettings, "7-worker-replica-0-1");
  token.replace(token.find("7-"), 2, "8-");
  EXPECT_EQ(OwnerOfToken(kSettings, token), std::nullopt);
  for (const char* text : {"", "ya29.", "ya29.trainyard.", "ya29.trainyard.x", "ya29.trainyard..", "."}) {
    EXPECT_EQ(OwnerOfToken(kSettings, text), std::nullopt) << text;
  }
  // What proves a supervisor's connection is no access token, and the other way round.
  const std::string id = "7-worker-replica-0-1";
  EXPECT_EQ(OwnerOfToken(kSettings, "ya29.trainyard." + id + "." + AttemptToken(kSettings, id)),
            std::nullopt);
  EXPECT_FALSE(IsAttemptToken(kSettings, id, AccessToken(kSettings, id)));
}

TEST(MetadataHostName, TellsWhoAsks) {
  const std::string name = MetadataHostName(kSettings, "7-worker-replica-0-1");
  EXPECT_EQ(AttemptOfHost(kSettings, name), "7-worker-replica-0-1");
  EXPECT_EQ(AttemptOfHost(kSettings, name + ":80"), "7-worker-replica-0-1");
  EXPECT_EQ(AttemptOfHost(kOther, name), std::nullopt);
  EXPECT_EQ(AttemptOfHost(kSettings, "metadata.google.internal"), std::nullopt);
  EXPECT_EQ(AttemptOfHost(kSettings, "8" + name.substr(1)), std::nullopt);
  EXPECT_EQ(AttemptOfHost(kSettings, ".metadata.trainyard"), std::nullopt);
  EXPECT_LE(name.size(), 253U);
}

}  // namespace
}  // namespace trainyard::control

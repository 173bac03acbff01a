#include "systemd/unit_place.h"

#include <gtest/gtest.h>

namespace trainyard::systemd {
namespace {

TEST(UnitPlace, OfALogin) {
  EXPECT_EQ(FindUnitPlace("/user.slice/user-1000.slice/session-3.scope"),
            (UnitPlace{PlaceKind::kLoginSession, "session-3.scope",
                       "/user.slice/user-1000.slice/session-3.scope"}));
}

TEST(UnitPlace, OfAUsersUnit) {
  const std::string manager = "/user.slice/user-1000.slice/user@1000.service";
  EXPECT_EQ(FindUnitPlace(manager + "/app.slice/run-1.scope/leaf"),
            (UnitPlace{PlaceKind::kUserManager, "run-1.scope", manager + "/app.slice/run-1.scope"}));
}

TEST(UnitPlace, OfTheManagerItself) {
  EXPECT_EQ(FindUnitPlace("/user.slice/user-1000.slice/user@1000.service").kind, PlaceKind::kSystem);
}

TEST(UnitPlace, OfAService) {
  EXPECT_EQ(FindUnitPlace("/system.slice/trainyard.service/x"),
            (UnitPlace{PlaceKind::kSystem, "trainyard.service", "/system.slice/trainyard.service"}));
}

TEST(UnitPlace, None) {
  for (const char* path : {"", "/", "/docker/0123", "no path", "/a//b/"})
    EXPECT_EQ(FindUnitPlace(path), UnitPlace{}) << path;
}

TEST(OwnPlace, SystemdsHierarchyIsAskedFirst) {
  EXPECT_EQ(FindOwnPlace("4:memory:/a.service\n1:name=systemd:/system.slice/b.service\n0::/c.scope\n").unit,
            "b.service");
  EXPECT_EQ(FindOwnPlace("0::/system.slice/c.scope\n").unit, "c.scope");
  EXPECT_EQ(FindOwnPlace("4:memory:/a.service\n0::/\n"), UnitPlace{});
  EXPECT_EQ(FindOwnPlace("rubbish\n:\n"), UnitPlace{});
}

SessionFacts Ann(PlaceKind place) { return {.place = place, .user = "ann"}; }

TEST(AfterLogout, AServiceHasNoSession) {
  EXPECT_EQ(AfterLogout(Ann(PlaceKind::kSystem)), LogoutNote{});
  EXPECT_EQ(AfterLogout(Ann(PlaceKind::kNone)), LogoutNote{});
}

TEST(AfterLogout, RootsJobsAreTheSystems) {
  SessionFacts facts = Ann(PlaceKind::kLoginSession);
  facts.is_root = true;
  EXPECT_EQ(AfterLogout(facts), LogoutNote{});
}

TEST(AfterLogout, LingeringKeepsAll) {
  SessionFacts facts = Ann(PlaceKind::kUserManager);
  facts.lingers = true;
  EXPECT_FALSE(AfterLogout(facts).ends_jobs);
  EXPECT_NE(AfterLogout(facts).line, "");
}

TEST(AfterLogout, TheCommandForRootIsNamed) {
  SessionFacts facts = Ann(PlaceKind::kLoginSession);
  EXPECT_FALSE(AfterLogout(facts).ends_jobs);
  facts.kills_processes = true;
  for (const SessionFacts& one : {facts, Ann(PlaceKind::kUserManager)}) {
    EXPECT_TRUE(AfterLogout(one).ends_jobs);
    EXPECT_NE(AfterLogout(one).line.find("'loginctl enable-linger ann'"), std::string::npos);
  }
}

}  // namespace
}  // namespace trainyard::systemd

#include "base/systemd/unit_place.h"

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

TEST(OuterUnit, WhatIsBelowAUnitHasNoName) {
  EXPECT_EQ(FindOuterUnit("0::/system.slice/trainyard.service\n"), "trainyard.service");
  EXPECT_EQ(FindOuterUnit("0::/system.slice/trainyard.service/leaf\n"), "trainyard.service");
  EXPECT_EQ(FindOuterUnit("0::/system.slice/trainyard-jobs.service/supervisor-a/trainyard.service\n"),
            "trainyard-jobs.service");
  EXPECT_EQ(FindOuterUnit("0::/user.slice/user-1.slice/user@1.service/app.slice/trainyard.service\n"),
            "trainyard.service");
  EXPECT_EQ(FindOuterUnit("4:memory:/trainyard.service\n1:name=systemd:/system.slice/other.service\n"
                          "0::/trainyard.service\n"),
            "other.service");
  for (const char* text :
       {"", "0::/\n", "0::/../../x\n", "0::/docker/0123\n", "4:memory:/trainyard.service\n"})
    EXPECT_EQ(FindOuterUnit(text), "") << text;
}

TEST(OuterUnit, IsOneOfTheSameManager) {
  const std::string own = "0::/machine.slice/box.scope/payload/system.slice/trainyard-jobs.service/keeper\n";
  const std::string root = FindManagersRoot(own);
  EXPECT_EQ(root, "/machine.slice/box.scope/payload");
  EXPECT_EQ(FindOuterUnit("0::" + root + "/system.slice/trainyard.service\n", root), "trainyard.service");
  EXPECT_EQ(FindOuterUnit("0::" + root + "/system.slice/a.service/trainyard.service\n", root), "a.service");
  EXPECT_EQ(FindOuterUnit("0::/system.slice/trainyard.service\n", root), "") << "the machine's";
  EXPECT_EQ(FindOuterUnit("0::" + root + "-2/system.slice/trainyard.service\n", root), "");
  EXPECT_EQ(FindManagersRoot("0::/system.slice/trainyard-jobs.service\n"), "");
  EXPECT_EQ(FindManagersRoot("0::/user.slice/user-1.slice/user@1.service/app.slice/a.service\n"),
            "/user.slice/user-1.slice/user@1.service");
  EXPECT_EQ(FindManagersRoot("0::/\n"), "");
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

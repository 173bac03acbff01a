#include "control/run/shell_tickets.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

constexpr SysTime kNow{std::chrono::hours(1)};

ShellTickets::Shell ShellOf(const std::string& job) {
  return {.job = {"p", job}, .task_name = "master-replica-0", .still_may = nullptr};
}

TEST(ShellTickets, OpenOnce) {
  ShellTickets tickets;
  const std::string ticket = tickets.Give(ShellOf("a"), kNow);
  EXPECT_EQ(ticket.size(), 64U);
  const auto shell = tickets.Take(ticket, kNow);
  ASSERT_TRUE(shell);
  EXPECT_EQ(shell->job.job_id, "a");
  EXPECT_FALSE(tickets.Take(ticket, kNow));
}

TEST(ShellTickets, AreWorthNothingLater) {
  ShellTickets tickets;
  const std::string ticket = tickets.Give(ShellOf("a"), kNow);
  EXPECT_FALSE(tickets.Take(ticket, kNow + ShellTickets::kLife));
  EXPECT_FALSE(tickets.Take("", kNow));
}

TEST(ShellTickets, TheOldestGoesWhenThereAreTooMany) {
  ShellTickets tickets;
  const std::string first = tickets.Give(ShellOf("first"), kNow);
  std::string last;
  for (std::size_t i = 0; i < ShellTickets::kTicketsMax; ++i)
    last = tickets.Give(ShellOf("other"), kNow + std::chrono::seconds(1));
  EXPECT_FALSE(tickets.Take(first, kNow + std::chrono::seconds(1)));
  EXPECT_TRUE(tickets.Take(last, kNow + std::chrono::seconds(1)));
}

TEST(ShellTickets, OfOnePersonTakeNobodyElsesAway) {
  ShellTickets tickets;
  ShellTickets::Shell shell = ShellOf("first");
  shell.principal = "user:ann@example.com";
  const std::string first = tickets.Give(std::move(shell), kNow);
  for (std::size_t i = 0; i <= ShellTickets::kTicketsMax; ++i)
    EXPECT_NE(tickets.Give(ShellOf("other"), kNow), "");
  EXPECT_TRUE(tickets.Take(first, kNow));
}

}  // namespace
}  // namespace trainyard::control

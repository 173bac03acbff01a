#include "base/tls/tls_identity.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/process/run_program.h"

namespace trainyard::tls {
namespace {

namespace fs = std::filesystem;
using std::chrono::days;

SysTime Now() { return SystemClock().Now(); }

const std::vector<std::string> kNames = {"storage.googleapis.com", "10.1.2.3"};

Result<RunResult> RunTool(std::vector<std::string> argv) {
  return RunProgram({.argv = std::move(argv), .environment = {"PATH=/usr/bin:/bin"}}, 100'000,
                    std::chrono::seconds(60));
}

TEST(TlsIdentity, IsMadeOnceAndKept) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  const auto first = EnsureTlsIdentity(folder / "tls", kNames, Now());
  ASSERT_TRUE(first) << first.error().message;
  const auto second = EnsureTlsIdentity(folder / "tls", kNames, Now());
  ASSERT_TRUE(second);
  EXPECT_EQ(first->certificate_chain_pem, second->certificate_chain_pem);
  EXPECT_EQ(first->private_key_pem, second->private_key_pem);
  const auto owner = fs::perms::owner_read | fs::perms::owner_write;
  EXPECT_EQ(fs::status(folder / "tls" / "ca-key.pem").permissions(), owner);
  EXPECT_EQ(fs::status(folder / "tls" / "server-key.pem").permissions(), owner);
  EXPECT_EQ(fs::status(folder / "tls").permissions(), fs::perms::owner_all);
}

TEST(TlsIdentity, IsRenewedWhenItMust) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  const auto first = EnsureTlsIdentity(folder, kNames, Now());
  ASSERT_TRUE(first);
  const std::string ca = *ReadFile(first->ca_file);
  const auto near_end = EnsureTlsIdentity(folder, kNames, Now() + days(340));
  ASSERT_TRUE(near_end);
  EXPECT_NE(near_end->certificate_chain_pem, first->certificate_chain_pem);
  EXPECT_EQ(ReadFile(first->ca_file), ca);
  const auto more_names = EnsureTlsIdentity(folder, {"www.googleapis.com"}, Now() + days(340));
  ASSERT_TRUE(more_names);
  EXPECT_NE(more_names->certificate_chain_pem, near_end->certificate_chain_pem);
  EXPECT_EQ(ReadFile(first->ca_file), ca);
  const auto old = EnsureTlsIdentity(folder, {}, Now() + days(3300));
  ASSERT_TRUE(old);
  EXPECT_NE(ReadFile(first->ca_file), ca);
}

TEST(TlsIdentity, DamagedFilesAreMadeAnew) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  const auto first = EnsureTlsIdentity(folder, {}, Now());
  ASSERT_TRUE(first);
  ASSERT_TRUE(WriteFileAtomically(folder / "server-key.pem", "garbage"));
  const auto second = EnsureTlsIdentity(folder, {}, Now());
  ASSERT_TRUE(second);
  EXPECT_NE(second->private_key_pem, first->private_key_pem);
  EXPECT_NE(second->private_key_pem, "garbage");
  EXPECT_EQ(EnsureTlsIdentity(folder, {"a,DNS:b"}, Now()).error().code, Code::kInvalidArgument);
  EXPECT_FALSE(EnsureTlsIdentity("/proc/none", {}, Now()));
}

TEST(TlsIdentity, OpensslFindsNothingWrong) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  const auto identity = EnsureTlsIdentity(folder, kNames, Now());
  ASSERT_TRUE(identity);
  const std::string ca = identity->ca_file.string();
  const std::string server = (folder / "server.pem").string();
  for (const char* name : {"localhost", "ml.localhost", "storage.googleapis.com"}) {
    const auto result = RunTool({"openssl", "verify", "-x509_strict", "-purpose", "sslserver",
                                 "-verify_hostname", name, "-CAfile", ca, server});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, ExitStatus{}) << name << ": " << result->output;
  }
  for (const char* address : {"127.0.0.1", "::1", "10.1.2.3"}) {
    const auto result =
        RunTool({"openssl", "verify", "-x509_strict", "-verify_ip", address, "-CAfile", ca, server});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, ExitStatus{}) << address << ": " << result->output;
  }
}

}  // namespace
}  // namespace trainyard::tls

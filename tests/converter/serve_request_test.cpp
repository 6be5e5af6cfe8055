// HTTP requests: the rules of RFC 9112, pieces of any size, and requests that two readers could interpret differently.
#include "serve/request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "serve/access.h"

namespace bantam::serve {
namespace {

constexpr size_t kHead = 1024, kBody = 64;
using State = RequestReader::State;

/// Returns the reader after these bytes, given `piece` at a time; `rest`: the bytes that it has not consumed.
RequestReader read_all(const std::string& bytes, size_t piece, std::string* rest = nullptr) {
  RequestReader reader(kHead, kBody);
  std::string pending;
  size_t at = 0;
  for (;;) {
    if (reader.state() == State::kAtBody) reader.read_body();
    if (reader.state() == State::kDone || reader.state() == State::kRefused) break;
    if (pending.empty() && at == bytes.size()) break;
    if (pending.empty()) {
      pending = bytes.substr(at, piece);
      at += pending.size();
    }
    pending.erase(0, reader.take(pending));
  }
  if (rest != nullptr) *rest = pending + bytes.substr(at);
  return reader;
}

const std::vector<size_t> kPieces = {1, 2, 7, 4096};

std::string post(const std::string& fields, const std::string& body = "") {
  return "POST /run HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
}

TEST(Request, IsReadInPiecesOfAnySize) {
  for (const size_t piece : kPieces) {
    std::string rest;
    RequestReader reader = read_all(post("Content-Length: 5\r\n", "12345GET"), piece, &rest);
    ASSERT_EQ(reader.state(), State::kDone);
    EXPECT_EQ(reader.head().method, "POST");
    EXPECT_EQ(reader.head().path, "/run");
    EXPECT_EQ(reader.head().host, "a");
    EXPECT_TRUE(reader.head().keeps_open);
    EXPECT_EQ(reader.body(), "12345");
    EXPECT_EQ(rest, "GET");
    reader = read_all(post("Transfer-Encoding: Chunked\r\n", "3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\nGET"),
                      piece, &rest);
    ASSERT_EQ(reader.state(), State::kDone) << reader.why();
    EXPECT_EQ(reader.body(), "abc0123456789");
    EXPECT_EQ(rest, "GET");
  }
}

TEST(Request, HasAPathWithoutWhatIsBehindIt) {
  const auto path = [](const std::string& target) {
    return read_all("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n", kHead).head().path;
  };
  EXPECT_EQ(path("/a%20b%2F?x=%00"), "/a b/");
  EXPECT_EQ(path("http://other:8/models?x"), "/models");
  EXPECT_EQ(path("http://other"), "/");
  EXPECT_EQ(read_all("GET http://Other:8/ HTTP/1.1\r\nHost: a\r\n\r\n", kHead).head().host, "Other:8");
}

TEST(Request, SaysWhetherTheConnectionStaysOpen) {
  const auto open = [](const std::string& head) { return read_all(head, kHead).head().keeps_open; };
  EXPECT_TRUE(open("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(open("GET / HTTP/1.1\r\nHost: a\r\nConnection: x , Close\r\n\r\n"));
  EXPECT_FALSE(open("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(open("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(Request, AnEmptyLineInFrontIsLeftOutOnce) {
  EXPECT_EQ(read_all("\r\n" + post(""), 1).state(), State::kDone);
  EXPECT_EQ(read_all("\r\n\r\n" + post(""), 1).code(), 400);
}

struct Wrong {
  std::string bytes;
  int code;
};

TEST(Request, ThatTwoCouldReadInTwoWaysIsRefused) {
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::vector<Wrong> wrong = {
      {post("Content-Length : 2\r\n", "ab"), 400},
      {post("Content-Length:\r\n 2\r\n", "ab"), 400},
      {post("X: y\r\n\tz\r\n"), 400},
      {post(" Content-Length: 2\r\n", "ab"), 400},
      {post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), 400},
      {post(std::string("Content-Length: 2\0\r\n", 20), "ab"), 400},
      {post("Content-Length: 2\r\nContent-Length: 2\r\n", "ab"), 400},
      {post("Content-Length: 2, 2\r\n", "ab"), 400},
      {post("Content-Length: +2\r\n", "ab"), 400},
      {post("Content-Length: \r\n", "ab"), 400},
      {post("Content-Length: 9999999999999999999\r\n"), 400},
      {post(chunked + "Content-Length: 2\r\n"), 400},
      {post("Transfer-Encoding: gzip, chunked\r\n"), 400},
      {post("Transfer-Encoding: \x0b"
            "chunked\r\n"),
       400},
      {post(chunked + chunked), 400},
      {post("no colon\r\n"), 400},
      {post(": x\r\n"), 400},
      {post("Host: b\r\n"), 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
      {"GET / HTTP/1.1\rHost: a\r\r", 400},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /health%00x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%1b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET health HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /health\r\n\r\n", 400},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"PRI * HTTP/2.0\r\n\r\n", 505},
      {"POST / HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", 400},
      {post("Expect: more\r\n"), 417},
      {post("Origin: a\r\nOrigin: b\r\n"), 400},
      {post("X: " + std::string(2 * kHead, 'a')), 431},
      {post("Content-Length: 65\r\n"), 413},
      {post(chunked, "41\r\n"), 413},
      {post(chunked, "20\r\n" + std::string(32, 'a') + "\r\n21\r\n"), 413},
      {post(chunked, "2\nab\n0\n\n"), 400},
      {post(chunked, "2\r\nab\n0\r\n\r\n"), 400},
      {post(chunked, "0x2\r\nab\r\n0\r\n\r\n"), 400},
      {post(chunked, " 2\r\nab\r\n0\r\n\r\n"), 400},
      {post(chunked, "-2\r\nab\r\n"), 400},
      {post(chunked, "\r\nab\r\n"), 400},
      {post(chunked, "100000000\r\n"), 400},
      {post(chunked, "1\r\nab\r\n0\r\n\r\n"), 400},
      {post(chunked, "1;" + std::string(300, 'x')), 400},
      {post(chunked, "0\r\nX: " + std::string(2 * kHead, 'a')), 431},
  };
  for (const Wrong& one : wrong) {
    for (const size_t piece : kPieces) {
      const RequestReader reader = read_all(one.bytes, piece);
      EXPECT_EQ(reader.state(), State::kRefused) << one.bytes;
      EXPECT_EQ(reader.code(), one.code) << one.bytes << reader.why();
    }
  }
}

int refused(const Access& access, const std::string& fields, const std::string& line = "GET /v1/models HTTP/1.1") {
  const RequestReader reader = read_all(line + "\r\n" + fields + "\r\n", kHead);
  EXPECT_EQ(reader.state(), State::kDone) << reader.why();
  const std::optional<Reply> reply = access.refuse(reader.head());
  return reply ? reply->code : 0;
}

TEST(Access, OfAMachinesOwnAddressIsUnderItsOwnNames) {
  const Access local({{}, {}, {"box.example"}}, true), open({}, false);
  for (const char* host :
       {"localhost", "LocalHost:80", "127.0.0.1:8080", "127.1.2.3", "[::1]:80", "a.localhost", "box.example"}) {
    EXPECT_EQ(refused(local, std::string("Host: ") + host + "\r\n"), 0) << host;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "localhost.evil", "", "10.0.0.1", "[::2]"}) {
    EXPECT_EQ(refused(local, std::string("Host: ") + host + "\r\n"), 403) << host;
    EXPECT_EQ(refused(open, std::string("Host: ") + host + "\r\n"), 0) << host;
  }
  EXPECT_EQ(refused(local, "Host: localhost\r\n", "GET http://evil.example/health HTTP/1.1"), 403);
}

TEST(Access, OfPagesIsTheirsWhomTheOptionsName) {
  const Access none({}, false), one({{}, {"https://a.example"}, {}}, false), all({{}, {"*"}, {}}, false);
  const std::string host = "Host: api.example:8080\r\n", page = host + "Origin: https://a.example\r\n";
  EXPECT_EQ(refused(none, page), 403);
  EXPECT_EQ(refused(none, host + "Origin: null\r\n"), 403);
  EXPECT_EQ(refused(none, host + "Origin: http://api.example:8080\r\n"), 0);  // the server's own page
  EXPECT_EQ(refused(one, page), 0);
  EXPECT_EQ(refused(one, host + "Origin: https://b.example\r\n"), 403);
  EXPECT_EQ(refused(all, host + "Origin: https://b.example\r\n"), 0);
  EXPECT_EQ(refused(one, page, "OPTIONS /run HTTP/1.1"), 204);
  EXPECT_EQ(refused(none, page, "OPTIONS /run HTTP/1.1"), 403);
}

TEST(Access, WithKeysNeedsOne) {
  const Access access({{"first", "second"}, {}, {}}, false);
  const std::string host = "Host: a\r\n";
  EXPECT_EQ(refused(access, host), 401);
  EXPECT_EQ(refused(access, host + "Authorization: Bearer firs\r\n"), 401);
  EXPECT_EQ(refused(access, host + "Authorization: first\r\n"), 401);
  EXPECT_EQ(refused(access, host + "Authorization: Bearer first\r\n"), 0);
  EXPECT_EQ(refused(access, host + "Authorization: Bearer second\r\n"), 0);
  EXPECT_EQ(refused(access, host, "GET /health HTTP/1.1"), 0);
}

}  // namespace
}  // namespace bantam::serve

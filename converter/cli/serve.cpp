#include "cli/serve.h"

#include <memory>

#include "cli/beside.h"
#include "cli/commands.h"
#include "cli/frame/command.h"
#include "cli/frame/errors.h"

namespace bantam::cli {

void add_serve(Program& program, const std::function<void(const ServeArguments&)>& run) {
  auto arguments = std::make_shared<ServeArguments>();
  arguments->engine.batch = convert::kPacked;
  Command& command = program.add_command("serve", "Answer texts over HTTP");
  command.group(kAnswerGroup);
  command.heading("Input");
  command.add_option("FILE", arguments->files, "Files of models; requests choose one by its name without .bantam")
      .required()
      .value("FILE.bantam");
  command.heading("Listening");
  command.add_option("--host", arguments->host, "Address to listen on (default 127.0.0.1: this machine alone)")
      .value("ADDRESS");
  command.add_option("--port", arguments->port, "TCP port (default 8080; 0: a free one, which is printed)")
      .takes(between(0U, 65535U))
      .value("N");
  command.add_option("--unix", arguments->unix_path, "Listen on a Unix socket instead of a port").value("PATH");
  command.heading("Limits");
  command
      .add_option("--queue", arguments->queue,
                  "Texts that may wait for each file (default 4096); a request beyond them gets 429")
      .takes(between(1U, 1000000U))
      .value("N");
  command.add_option("--max-body", arguments->max_body, "Largest body of a request in KiB (default 1024); else 413")
      .takes(between(1U, 1048576U))
      .value("KIB");
  command
      .add_option("--timeout", arguments->timeout,
                  "Seconds that a request may take to come in and to wait (default 30); 503 where it waited longer")
      .takes(between(1U, 3600U))
      .value("SECONDS");
  command.add_option("--connections", arguments->connections, "Most open connections (default 4096)")
      .takes(between(1U, 65536U))
      .value("N");
  command.heading("Output");
  command.add_option("--top", arguments->top, "Most labels or candidates (default 5; 0: all)").value("N");
  add_aggregation_option(command, &arguments->aggregation);
  command.add_flag("--log", arguments->log, "A line on standard error for each reply: method, path, code, time");
  command.heading("Running");
  add_engine_options(command, &arguments->engine);
  command.footer(
      "Paths: POST /run, /classify, /tag, /answer, /embed, /fill, /rank and /v1/embeddings (as OpenAI's API has it); "
      "GET "
      "/health, /metrics (Prometheus) and /v1/models. Bodies are JSON, answers those of --json. SIGTERM and Ctrl-C end "
      "the "
      "server once what has been asked is answered. There is no TLS and no password: put a proxy in front of it.\n\n"
      "Examples:\n"
      "  bantam serve voice.bantam --port 8080\n"
      "  curl http://127.0.0.1:8080/run -d @request.json\n"
      "  bantam serve minilm.bantam voice.bantam --unix bantam.socket --threads 2");
  command.action([arguments, run] { run(*arguments); });
}

void run_server(char** argv) {
  start_beside("bantam-serve", argv);
  fail(ExitCode::kUnsupported,
       "serve: this build of bantam cannot serve: there is no bantam-serve beside it; install libmicrohttpd (sudo "
       "apt-get "
       "install libmicrohttpd-dev) and build bantam again with -DBANTAM_SERVE=ON");
}

}  // namespace bantam::cli

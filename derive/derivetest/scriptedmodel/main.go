// Command scriptedmodel runs a scripted model server on this computer, to show derivation without a real model.
//
//	go run ./derive/derivetest/scriptedmodel -listen 127.0.0.1:9911 script.txtar
//
// with llm.provider openai and llm.baseUrl http://127.0.0.1:9911/v1. Package derivetest describes scripts.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"kioku/derive/derivetest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9911", "`address` of this computer to listen on")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: scriptedmodel [-listen ADDRESS] SCRIPT")
	}
	if err := serve(*listen, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

// serve answers what the script in a file says until the process ends.
func serve(address, file string) error {
	script, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	handler, err := derivetest.Parse(string(script), log.Printf)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log.Printf("the scripted model listens on http://%s", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

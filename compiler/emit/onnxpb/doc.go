// Package onnxpb is the protobuf code of ONNX's file format, generated from
// onnx-ml.proto of ONNX 1.22.0 (IR version 13). That file is copyright of the
// ONNX project contributors and licensed under Apache-2.0 (see LICENSE); the
// variant with the machine-learning types is the one that the onnx package and
// the runtimes are built with.
package onnxpb

//go:generate ./generate.sh
